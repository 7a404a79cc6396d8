"""What the commands about one run have in common: its document, its lines, its exit status (contract, "Commands")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document
from companion.lib.refusals import Refusal
from sessions.actions import run_documents
from sessions.actions.find import window_for
from sessions.actions.handoff import read_text
from sessions.actions.index import catch_up
from sessions.actions.propose import Wish, propose
from sessions.actions.run_options import BadOptions, is_on, wish_of
from sessions.management.carrying import carry_to_its_end
from sessions.management.run_lines import lines_of
from sessions.models import Run

WELL = frozenset({"planned", "running", "done", "exported"})
DAYS = "days with commas between, such as 2026-03-01,2026-03-02"
NOT_HERE = "not for a diet: it carries no hand-off"


class Misused(CommandError):
    """Options that no session could make right: exit status 2."""

    def __init__(self, refusal: BadOptions) -> None:
        names = ", ".join(f"--{field.replace('_', '-')}" for field in refusal.fields)
        super().__init__(f"{names}: {refusal.message}", returncode=2)
        self.code = refusal.code
        self.hint = refusal.hint


class RunCommand(ConsoleCommand):
    """Answers one run."""

    # The states in which what was asked for has been done.
    well = WELL

    def succeeded(self, document: Document) -> bool:
        return document["status"] in self.well

    def lines(self, document: Document) -> Iterable[str]:
        return lines_of(document)

    def say(self, line: str) -> None:
        """How it goes on, beside the document."""
        self.stderr.write(line, lambda text: text)


class PlanCommand(RunCommand):
    """Plans a run of one kind and, unless it is a dry run, carries it out."""

    kind: str

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("session", nargs="?", help="id, unique prefix, or path")
        parser.add_argument("--companion", help="of which companion, where no session is given")
        parser.add_argument("--dry-run", action="store_true", help="only plan; `apply` carries exactly this plan out")
        _add_choices(parser)
        _add_handoff(parser, is_diet=self.kind == Run.Kind.DIET)
        parser.add_argument(
            "--squash", metavar="N", help="characters that stay of a tool result; 0 leaves all as it is"
        )
        parser.add_argument("--export-only", action="store_true", help="write the new session, leave the binding alone")
        parser.add_argument("--no-hold", action="store_true", help="put nothing into memory")
        parser.add_argument("--no-backup", action="store_true", help="make no copy of the old transcript first")
        parser.add_argument("--force", action="store_true", help="do not wait for silence")
        parser.add_argument(
            "--drop-thinking", action="store_true", help="yes, leave thinking out where the model wants it"
        )

    def answer(self, **options: Any) -> Document:
        wish = _wish(options, self.kind)
        catch_up()
        run = propose(window_for(options["session"], options["companion"]), wish)
        if not options["dry_run"]:
            _check_thinking(run, options)
            run = carry_to_its_end(run, self.say)
        return run_documents.run(run)


def _add_choices(parser: CommandParser) -> None:
    """Three ways to choose what stays; one of them at a time."""
    parser.add_argument("--retain", metavar="N", help="the newest N tokens (the default way)")
    parser.add_argument("--revive", action="store_true", help="the newest tokens even from behind the last compaction")
    parser.add_argument("--keep-days", metavar="D,…", help=DAYS)
    for side, words in (("from", "first"), ("to", "last")):
        parser.add_argument(f"--keep-{side}-idx", metavar="IDX", help=f"the {words} event, by its number")
        parser.add_argument(f"--keep-{side}-uuid", metavar="UUID", help=f"the {words} event, by the start of its uuid")
        parser.add_argument(f"--keep-{side}-ts", metavar="TIME", help=f"the {words} event, by time")
    parser.add_argument("--cap", metavar="N", help="at most N tokens of chosen days or of a range; the oldest go")


def _add_handoff(parser: CommandParser, *, is_diet: bool) -> None:
    parser.add_argument("--handoff-days", metavar="D,…", help=NOT_HERE if is_diet else f"hand over these {DAYS}")
    parser.add_argument("--handoff", metavar="FILE", help=NOT_HERE if is_diet else "the hand-off as you wrote it")


def _wish(options: dict[str, Any], kind: str) -> Wish:
    """The options as a wish; a file of the hand-off is read only here, never for a form."""
    try:
        wish = wish_of(options, kind)
    except BadOptions as refusal:
        raise Misused(refusal) from None
    if options["handoff"]:
        return replace(wish, handoff=read_text(options["handoff"]), handoff_origin="file")
    return wish


def _check_thinking(run: Run, options: dict[str, Any]) -> None:
    """Nobody loses thinking without having been told (spec W2)."""
    blocks = run.plan.get("thinking_dropped", 0)
    if blocks and not is_on(options, "drop_thinking") and not is_on(options, "force"):
        raise Refusal(
            "drops-thinking",
            _(
                "This model takes no thinking after a cut: %(blocks)d blocks would be left out. The plan %(run)s is kept."
            )
            % {"blocks": blocks, "run": run.pk},
            _("Look at it and `apply %(run)s`, or add --drop-thinking.") % {"run": str(run.pk)[:8]},
        )
