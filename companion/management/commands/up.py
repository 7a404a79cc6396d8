"""`manage.py up`: the whole console until Ctrl-C."""

import argparse
import json
import os
import sys
import webbrowser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from companion.up import address, supervisor
from companion.up.sign_in import sign_in_url

PORTS = range(1, 65536)


def port_number(value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) not in PORTS:
        raise argparse.ArgumentTypeError(f"{value!r} is no port: give a whole number from 1 to 65535")
    return int(value)


class Command(BaseCommand):
    help = "Start everything: database, broker, web, worker, schedule and watcher. Ctrl-C stops all."
    needs_database = False
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=port_number, help="Listen here instead of COMPANION_PORT.")
        parser.add_argument("--no-open", action="store_true", help="Do not open a browser.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document once everything works.")

    def handle(self, *args: Any, **options: Any) -> None:
        environment = supervisor.with_port(settings.ENV, options["port"])
        base = address.base_url(environment)
        if not options["json"]:
            self.stdout.write("Starting …")
            self.stdout.flush()
        supervisor.run(
            environment,
            prepare=lambda: sign_in_url(base),
            publish=lambda url: self._publish(base, url, options),
        )

    def _publish(self, base: str, url: str, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps({"url": url}))
        else:
            self.stdout.write(f"Companion Console is running at {base}/")
            self.stdout.write(f"Sign in (works once, within 15 minutes): {url}")
            self.stdout.write("Ctrl-C stops it.")
        self.stdout.flush()
        if not options["no_open"] and not options["json"] and has_browser():
            webbrowser.open(url)


def has_browser() -> bool:
    """Someone sits here, and there is a screen."""
    screen = sys.platform == "darwin" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return sys.stdout.isatty() and screen
