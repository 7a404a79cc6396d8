"""A refusal: one clear sentence for a person, with a code for scripts and what to do about it."""

from __future__ import annotations


class Refusal(Exception):
    """Raised where something asked for cannot be done and nothing was changed.

    `code` is stable and lower-case with hyphens; `message` says what is wrong, `hint` what to do (both translated).
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
