"""The command line: parse, make sure of servers and migrations, perform, and say clearly what went wrong."""

import difflib
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from companion.up.answer import answer
from companion.up.refusal import Misused

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand

# Django's own commands that touch no row; ours say so with `needs_database = False`.
DATABASE_FREE = {
    *("check", "collectstatic", "compilemessages", "diffsettings", "findstatic", "makemessages", "makemigrations"),
    *("startapp", "startproject"),
}
UNMIGRATED = {"migrate", "showmigrations", "sqlmigrate", "flush", "dbshell"}
PLAIN = {"help", "version", "--help", "-h", "--version"}
CONNECT_SECONDS = "5"


def run(argv: list[str]) -> int:
    """What manage.py calls. Returns the exit status: 0 done, 1 refused, 2 used wrongly (contract, "Commands")."""
    os.environ.setdefault("PGCONNECT_TIMEOUT", CONNECT_SECONDS)
    if argv[1:2] == ["inject"]:
        return _silently(argv)
    try:
        _dispatch(argv)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        return answer(error, argv)
    return 0


def _silently(argv: list[str]) -> int:
    """The hook's twin runs inside someone's chat: any trouble is no output and status 0 (contract, `inject`)."""
    try:
        _dispatch(argv)
    except (Exception, SystemExit):
        return 0
    return 0


def _dispatch(argv: list[str]) -> None:
    import django
    from django.core.management import ManagementUtility

    if len(argv) < 2 or argv[1] in PLAIN:
        ManagementUtility(argv).execute()
        return
    _check_settings()
    django.setup()
    command = _command_named(argv[1])
    options = _parsed(command, argv[1], argv[2:])
    with _prepared(command, argv[1]):
        _perform(command, options)


def _check_settings() -> None:
    """Reading them is what may refuse: an unusable variable, an unwritable data folder."""
    from django.conf import settings

    settings.DATABASES  # noqa: B018


def _command_named(name: str) -> "BaseCommand":
    from django.core.management import get_commands, load_command_class

    commands = get_commands()
    if name not in commands:
        near = difflib.get_close_matches(name, commands, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "See `manage.py help`."
        raise Misused(f"There is no command {name!r}.", hint)
    return load_command_class(commands[name], name)


def _parsed(command: "BaseCommand", name: str, arguments: list[str]) -> dict[str, Any]:
    from django.core.management import CommandError, handle_default_options

    parser = command.create_parser("manage.py", name)
    try:
        options = parser.parse_args(arguments)
    except CommandError as error:
        raise Misused(str(error).removeprefix("Error: "), f"See `manage.py {name} --help`.") from None
    handle_default_options(options)
    return vars(options)


def needs_database(command: "BaseCommand", name: str) -> bool:
    return name not in DATABASE_FREE and bool(getattr(command, "needs_database", True))


def _prepared(command: "BaseCommand", name: str) -> AbstractContextManager[None]:
    if not needs_database(command, name):
        return nullcontext()
    return database_ready(migrated=name not in UNMIGRATED)


@contextmanager
def database_ready(migrated: bool = True) -> Iterator[None]:
    """Servers joined, migrations applied. For a command that says `needs_database = False` and wants to choose when."""
    from django.conf import settings
    from django.db import connections

    from companion.up import embedded, migrations

    with embedded.joined(settings.ENV):
        try:
            if migrated:
                migrations.bring_up_to_date()
            else:
                migrations.check_reachable()
            yield
        finally:
            # A clean stop of the server waits for its clients.
            connections.close_all()


def _perform(command: "BaseCommand", options: dict[str, Any]) -> None:
    arguments = options.pop("args", ())
    command.execute(*arguments, **options)
