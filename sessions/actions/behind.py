"""How much a search cannot find yet: words are kept a moment after the index has read a file."""

from __future__ import annotations

from django.db.models import F, Q

from sessions.models import Transcript


def sessions_behind() -> int:
    """Sessions some of whose words are not kept yet; a file that is gone or out of reach does not count."""
    readable = Transcript.objects.filter(kind=Transcript.Kind.MAIN, missing_since=None, trouble="", lines__gt=0)
    return readable.filter(Q(words_cursor=None) | Q(words_cursor__lines__lt=F("lines"))).count()
