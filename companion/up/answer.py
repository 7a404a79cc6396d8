"""What a command that failed says: one line on stderr, or the contract's error document on stdout."""

import json
import sys
import traceback
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError
from django.db import Error as DatabaseFault
from django.db import OperationalError

from companion.lib.refusals import Refusal
from companion.up.refusal import Misused, disk_full, document, line, storage_refused

REFUSED = 1
MISUSED = 2
NO_SPACE = "No space left on device"


def answer(error: Exception, argv: list[str]) -> int:
    """Says it and returns the exit status. A traceback only for a fault of our own, or when asked for."""
    known = explained(error)
    if known is None or "--traceback" in argv:
        traceback.print_exception(error)
    refusal = known or Refusal("unexpected", f"{type(error).__name__}: {error}", "This is a fault of the console.")
    if "--json" in argv:
        print(json.dumps(document(refusal), ensure_ascii=False), flush=True)
    else:
        print(line(refusal), file=sys.stderr, flush=True)
    return status_of(error)


def status_of(error: Exception) -> int:
    if isinstance(error, Misused):
        return MISUSED
    return error.returncode if isinstance(error, CommandError) else REFUSED


def explained(error: Exception) -> Refusal | None:
    """A clear refusal for a known kind of error; None means a fault of our own."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, ImproperlyConfigured):
        return Refusal("configuration", str(error))
    if isinstance(error, CommandError):
        return _from_command(error)
    if isinstance(error, DatabaseFault):
        return _from_database(error)
    if isinstance(error, OSError) and NO_SPACE in str(error):
        return storage_refused(error, _data_folder())
    return None


def _from_command(error: CommandError) -> Refusal:
    """A `CommandError` may carry `code` and `hint`."""
    code = "usage" if error.returncode == MISUSED else "refused"
    return Refusal(getattr(error, "code", code), str(error), getattr(error, "hint", ""))


def _from_database(error: DatabaseFault) -> Refusal | None:
    if NO_SPACE in str(error):
        return disk_full(_data_folder())
    if not isinstance(error, OperationalError):
        return None
    from companion.up.migrations import unreachable

    return unreachable(error)


def _data_folder() -> Path:
    from django.conf import settings

    return Path(settings.ENV.data)
