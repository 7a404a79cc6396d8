"""The words for people keep up with the program: settings and commands are named, links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

ROOT = Path(settings.BASE_DIR)
OPERATORS = ("docs/operators.md", "docs/operators.zh-CN.md")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OURS = {"companion", "sessions", "memory"}
# A variable is read by one of the functions of `companion.env`, or from the environment itself.
VARIABLE = re.compile(r"""(?:\b[a-z_]+\(|environ\.get\(|environ\[)\s*"([A-Z][A-Z0-9_]{2,})\"""")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def variables() -> list[str]:
    return sorted(set(VARIABLE.findall((ROOT / "companion" / "env.py").read_text(encoding="utf-8"))))


def commands() -> list[str]:
    return sorted(name for name, app in get_commands().items() if app in OURS)


def prose(page: Path) -> str:
    """A page without its examples."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchor_of(heading: str) -> str:
    """As the hosts of Markdown make them: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(page: Path) -> Iterator[tuple[str, str]]:
    """(path, anchor) of each link that stays in the repository; the path is empty for one into the same page."""
    for target in LINK.findall(prose(page)):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


def is_dead(page: Path, path: str, anchor: str) -> bool:
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return True
    return bool(anchor) and anchor not in {anchor_of(heading) for heading in HEADING.findall(prose(target))}


def test_the_environment_is_found() -> None:
    assert {"COMPANION_DATA", "COMPANION_PASSWORD", "DATABASE_URL", "AUTO_FORGE_PCT"} <= set(variables())


@pytest.mark.parametrize("page", OPERATORS)
def test_operators_read_of_every_variable(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    assert [name for name in variables() if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", OPERATORS)
def test_operators_read_of_every_command(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    assert [name for name in commands() if not re.search(rf"^\| `{name}[ `]", text, re.MULTILINE)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = [(path, anchor) for path, anchor in links(page) if is_dead(page, path, anchor)]

    assert dead == []


def test_both_readmes_show_the_two_commands() -> None:
    for name in ("README.md", "README.zh-CN.md"):
        text = (ROOT / name).read_text(encoding="utf-8")

        assert {"make run", "make test"} <= set(text.splitlines())
