"""`manage.py login`: a new one-time sign-in link."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from companion.up import address, instance
from companion.up.sign_in import sign_in_url


class Command(BaseCommand):
    help = "Print a new sign-in link. It works once, within 15 minutes."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON document.")

    def handle(self, *args: Any, **options: Any) -> None:
        running = instance.running(settings.ENV.run)
        url = sign_in_url(running["url"] if running else address.base_url(settings.ENV))
        self.stdout.write(json.dumps({"url": url}) if options["json"] else url)
