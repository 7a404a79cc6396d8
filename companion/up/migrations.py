"""The database's shape: compared with the migrations on disk before a command, mended when it is behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from companion.lib.refusals import Refusal
from companion.up.refusal import disk_full

LOCK = 0x636F6D70


def bring_up_to_date() -> bool:
    """Applies what is missing, one process at a time. True when something was."""
    check_reachable()
    if not missing():
        return False
    try:
        with _alone():
            if missing():
                call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        raise Refusal(
            "migration",
            f"The database could not be brought up to date: {_first_line(error)}",
            "Nothing of the failed step was kept; the database needs pgvector and pg_trgm.",
        ) from error
    return True


def check_reachable() -> None:
    try:
        connection.ensure_connection()
    except OperationalError as error:
        raise unreachable(error) from None


def missing() -> set[tuple[str, str]]:
    """Migrations on disk that the database does not know: one query, no migration is imported."""
    return _on_disk() - set(MigrationRecorder(connection).applied_migrations())


def unreachable(error: Exception) -> Refusal:
    """Names the place, never the password."""
    if "no space left" in str(error).lower():
        return disk_full(settings.ENV.data)
    if not settings.ENV.database_url:
        return Refusal(
            "database-unreachable",
            f"The console's own database does not answer: {_first_line(error)}",
            f"See {settings.ENV.data / 'logs' / 'postgres.log'}, look whether the disk is full, and start again.",
        )
    place = connection.settings_dict
    host = f"{place['HOST'] or 'localhost'}{':' + str(place['PORT']) if place.get('PORT') else ''}"
    return Refusal(
        "database-unreachable",
        f"The database {place['NAME']} at {host} cannot be reached: {_first_line(error)}",
        "Start that server or correct DATABASE_URL; without it the console starts its own.",
    )


def _on_disk() -> set[tuple[str, str]]:
    return {
        (app.label, path.stem)
        for app in apps.get_app_configs()
        for path in Path(app.path, "migrations").glob("[!_]*.py")
    }


@contextmanager
def _alone() -> Iterator[None]:
    """An advisory lock: it holds between machines as well, and goes with the connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    try:
        yield
    finally:
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
