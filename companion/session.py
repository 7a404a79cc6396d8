"""Who is in: one browser session that came through a sign-in link or the password. There are no accounts."""

from __future__ import annotations

import hashlib
import logging
import re
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils import timezone

from companion.lib.live import tell

SIGNED_IN = "signed_in_at"

TOKEN_IN_PATH = re.compile(r"(/sign-in/)[^/\s\"'?]{8,}")


def is_signed_in(session: SessionBase) -> bool:
    return bool(session.get(SIGNED_IN))


def sign_in(request: HttpRequest) -> None:
    """A new session key comes with it, so that a key planted before is worth nothing."""
    request.session.cycle_key()
    request.session[SIGNED_IN] = timezone.now().isoformat()


def sign_out(request: HttpRequest) -> None:
    """Ends the session and closes the sockets that were opened with it."""
    group = group_of_session(request.session.session_key or "")
    request.session.flush()
    tell([(group, {"type": "signed_out"})])


def group_of_session(session_key: str) -> str:
    """The group of one session's sockets. The key itself goes nowhere."""
    return f"session.{hashlib.sha256(session_key.encode()).hexdigest()[:40]}"


class HideTokens(logging.Filter):
    """Takes the token of a sign-in link out of whatever is logged (security row 4)."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = hidden(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(hidden(part) for part in record.args)
        return True


def hidden(value: Any) -> Any:
    """A text, or anything that would print one, without its token; other values as they are."""
    shown = value if isinstance(value, str) else str(value) if isinstance(value, Exception | HttpRequest) else ""
    return TOKEN_IN_PATH.sub(r"\1…", shown) if shown else value
