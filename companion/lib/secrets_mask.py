"""Keys and passwords of common shapes, covered before a text is shown or exported (security row 14).

What is left of a key says which one it was; ordinary words, ids and hashes stay. A key that the end of a preview cut
in two is covered as well.
"""

from __future__ import annotations

import re

COVER = "******"

# (what stays, what is covered). A tail that reaches the end of the text may be short: it was cut there.
SHAPES: tuple[tuple[str, str], ...] = (
    (r"sk-ant-(?:[a-z]{2,8}\d{0,2}-)?", r"[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]*…?\Z"),
    (r"sk-(?:proj-|svcacct-|or-v1-|live-)?", r"(?=[A-Za-z_-]{0,199}\d)[A-Za-z0-9_-]{20,}"),
    (r"(?:sk|rk|pk)_(?:live|test)_", r"[A-Za-z0-9]{10,}|[A-Za-z0-9]*…?\Z"),
    (r"gh[pousr]_", r"[A-Za-z0-9]{20,}|[A-Za-z0-9]+…?\Z"),
    (r"github_pat_", r"[A-Za-z0-9_]{20,}|[A-Za-z0-9_]*…?\Z"),
    (r"glpat-", r"[A-Za-z0-9_-]{16,}|[A-Za-z0-9_-]+…?\Z"),
    (r"hf_", r"[A-Za-z]{30,}"),
    (r"npm_", r"[A-Za-z0-9]{30,}"),
    (r"pypi-", r"[A-Za-z0-9_-]{50,}"),
    (r"AIza", r"[A-Za-z0-9_-]{35}"),
    (r"(?:AKIA|ASIA)", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (r"xox[abeoprs]-", r"[A-Za-z0-9-]{10,}|[A-Za-z0-9-]+…?\Z"),
    (r"xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    (r"eyJ[A-Za-z0-9_-]{5}", r"[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
)
STARTS = r"(?<![A-Za-z0-9_-])"
KEYS = re.compile("|".join(f"{STARTS}(?P<k{n}>{stays})(?:{covered})" for n, (stays, covered) in enumerate(SHAPES)))

# Telegram: the number of the bot, a colon, 35 characters.
BOT_TOKEN = re.compile(r"(?<!\d)(\d{8,10}:)[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
BEARER = re.compile(r"(\b(?:[Bb]earer|Basic)\s+)(?=[A-Za-z._~+/-]{0,199}\d)[A-Za-z0-9._~+/-]{16,}=*")
PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----).*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)", re.DOTALL
)
URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,80}:)[^\s/@]{3,200}(?=@)")
NAMED = re.compile(
    r"""((?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?token|auth[_-]?token|password|passwd|密码|口令)["']?\s{0,3}[:=：]\s{0,3}["']?)"""
    r"""(?=[!#-&(-+\--:<-~]{0,199}\d)(?=[!#-&(-+\--:<-~]{0,199}[A-Za-z])[!#-&(-+\--:<-~]{12,200}""",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The text with its secrets covered."""
    if "-----BEGIN" in text:
        text = PRIVATE_KEY.sub(rf"\1{COVER}", text)
    text = KEYS.sub(lambda found: f"{first_group(found)}{COVER}", text)
    text = BOT_TOKEN.sub(rf"\1{COVER}", text)
    text = BEARER.sub(rf"\1{COVER}", text)
    text = URL_PASSWORD.sub(rf"\1{COVER}", text)
    return NAMED.sub(rf"\1{COVER}", text)


def first_group(found: re.Match[str]) -> str:
    return found.group(found.lastgroup or 0)
