"""Plan a run: look at the window, choose, count, and store the plan that may be carried out later (spec W6)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

import msgspec
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions import injected
from sessions.actions.copying import Uncopyable
from sessions.actions.documents import utc
from sessions.actions.ground import changed, silence
from sessions.actions.sentences import refusal_of
from sessions.actions.sight import LOOKS, Sight, is_unchanged, seen
from sessions.actions.trial import summed
from sessions.core.plan import Mark, Plan, Warning, digest_of, spans_of, warnings_of
from sessions.core.ranges import BadSelection
from sessions.core.selection import Chosen, Ground, Mode, Selection, choose
from sessions.core.tokens import OVERHEAD, estimate, generation_of
from sessions.core.turns import Step, is_mid_turn
from sessions.gateways import beside, demo_files
from sessions.gateways.bridges import bridge_for
from sessions.models import Run, Window

# Of the window: what a diet keeps where nothing else is said (spec W1).
DIET_SHARE = 0.65


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for. `kind` is diet or forge; `selection` None is the tail with the kind's own retain; `squash` is in
    characters (None: the kind's own, 0: uncut). `handoff` is a text that replaces the draft; `handoff_origin` says whose
    it is: draft, edited or file."""

    kind: str
    selection: Selection | None = None
    squash: int | None = None
    handoff_days: tuple[date, ...] = ()
    handoff: str | None = None
    handoff_origin: str = "draft"
    export_only: bool = False
    with_hold: bool = True
    with_backup: bool = True
    force: bool = False


@dataclass(slots=True)
class Look:
    """One wish looked at on one window."""

    sight: Sight
    wish: Wish
    selection: Selection
    now: datetime
    warnings: list[Warning] = field(default_factory=list)


def propose(window: Window, wish: Wish) -> Run:
    """A planned run, stored with the digest of the file. Reads what is new first; writes nothing but the row.

    Raises Refusal: the file is gone, elsewhere or being written; nothing can be kept; what was chosen is not there.
    """
    wish = _settled(window, wish)
    check_place(Path(window.transcript.path))
    for _look in range(LOOKS):
        with seen(window, squash=wish.squash or 0) as sight:
            run = _planned(sight, wish)
            run.source_sha256 = sight.reader.sha256()
            if is_unchanged(sight):
                run.save(force_insert=True)
                announce("run", window.pk)
                return run
    raise changed()


def preview(window: Window, wish: Wish) -> Run:
    """The run that `propose` would store, with the same figures, not stored and without the digest. Raises Refusal."""
    wish = _settled(window, wish)
    check_place(Path(window.transcript.path))
    with seen(window, squash=wish.squash or 0) as sight:
        return _planned(sight, wish)


def _settled(window: Window, wish: Wish) -> Wish:
    """The wish with the kind's own figures where it names none."""
    env = settings.ENV
    is_diet = wish.kind == Run.Kind.DIET
    selection = wish.selection or Selection(Mode.TAIL)
    if selection.mode is Mode.TAIL and not selection.retain:
        own = (env.diet_retain or round(window.window_tokens * DIET_SHARE)) if is_diet else env.forge_retain
        selection = replace(selection, retain=own)
    selection = replace(selection, as_said=not is_diet)
    squash = (env.diet_squash if is_diet else env.forge_squash) if wish.squash is None else wish.squash
    return replace(wish, selection=selection, squash=squash)


def check_place(path: Path) -> None:
    """A new file is only ever written into a projects folder of ours (security row 6)."""
    roots = [*settings.ENV.roots, demo_files.projects_root(settings.ENV.data)]
    if not any(path.resolve().is_relative_to(root.resolve()) for root in roots):
        raise Refusal(
            "outside-roots",
            _("%(path)s lies outside of the folders that the console may write to.") % {"path": path},
            _("Add its projects folder to COMPANION_PROJECTS_ROOT."),
        )


def _planned(sight: Sight, wish: Wish) -> Run:
    look = Look(sight, wish, wish.selection or Selection(Mode.TAIL), timezone.now())
    chosen = _chosen(look)
    run = _row(look)
    run.handoff, run.handoff_origin, notes = injected.text_for(
        sight.window, kind=wish.kind, days=wish.handoff_days, text=wish.handoff, origin=wish.handoff_origin,
        summaries=_summaries(look, chosen), earlier=sight.before.handoff,
    )  # fmt: skip
    plan = _counted(run, look, chosen)
    run.plan = msgspec.to_builtins(plan)
    run.used_after = plan.kept_tokens + _tokens(run.handoff, sight.window) + OVERHEAD
    run.warnings = [*_warnings(look, chosen, run, plan), *notes]
    return run


def _chosen(look: Look) -> Chosen:
    sight = look.sight
    ground = Ground(sight.steps, sight.turns, sight.before.floor, settings.ENV.zone, look.now, sight.trial.weigh)
    try:
        return choose(look.selection, ground)
    except BadSelection as fault:
        raise refusal_of(fault) from None
    except Uncopyable as fault:
        raise Refusal(
            "uncopyable",
            _("Line %(line)d is nested so deeply that it cannot be copied.") % {"line": fault.line},
            _("Choose a range without it."),
        ) from None


def _row(look: Look) -> Run:
    window, wish = look.sight.window, look.wish
    target = str(uuid.uuid4())
    path = Path(window.transcript.path)
    return Run(
        kind=wish.kind,
        window=window,
        companion=window.companion,
        host=window.transcript.host,
        source_session_id=window.session_id,
        source_path=str(path),
        source_size=look.sight.reader.identity.size,
        target_session_id=target,
        target_path=str(path.with_name(f"{target}.jsonl")),
        wish=msgspec.to_builtins(wish),
        hold={"status": "skipped", "detail": {"code": "no-memory-yet" if wish.with_hold else "hold-not-wanted"}},
        rebind=_binding(look, target),
        is_export_only=wish.export_only,
        is_forced=wish.force,
        with_backup=wish.with_backup,
        used_before=window.used_tokens,
        window_tokens=window.window_tokens,
    )


def _binding(look: Look, target: str) -> dict[str, object]:
    """What is bound now and what would be; nothing of it is tried yet."""
    bound = bridge_for(look.sight.window.companion).binding()
    before = bound.session_id if bound is not None else None
    return {"status": "none", "before": before, "after": before if look.wish.export_only or not before else target}


def _summaries(look: Look, chosen: Chosen) -> list[str]:
    """The newest compaction summary, where what it sums up does not stay (spec W14)."""
    first = chosen.turns[0].first
    if first == look.sight.turns[0].first:
        return []
    return [text for seq, text in look.sight.before.summaries if seq < look.sight.steps[first].seq]


def _counted(run: Run, look: Look, chosen: Chosen) -> Plan:
    """The plan with what the trial of its turns counted."""
    plan = _plan(look, chosen)
    tally, plan.fattest, pointed = summed([look.sight.trial.of(turn) for turn in chosen.turns])
    plan.sides, plan.agents = beside.those_there(Path(run.source_path).with_suffix(""), pointed, tally.agents)
    if missing := pointed - set(plan.sides):
        look.warnings.append({"code": "sides-missing", "count": len(missing)})
    plan.kept_events = tally.events
    plan.thinking, plan.thinking_dropped = tally.thinking, tally.thinking_dropped
    plan.results_squashed, plan.images_squashed = tally.squashed.results, tally.squashed.images
    plan.unpaired = tally.unpaired
    return plan


def _plan(look: Look, chosen: Chosen) -> Plan:
    spans = spans_of(chosen.turns)
    kept = [step for first, last in spans for step in look.sight.steps[first : last + 1]]
    window = look.sight.window
    spoken = [step.preview for step in kept if step.preview]
    return Plan(
        mode=look.selection.mode,
        spans=spans,
        digest=digest_of(step.uuid for step in kept),
        start=_mark(chosen.start),
        end=_mark(chosen.end),
        cut=(spans[0][0], spans[-1][1]),
        turns=len(chosen.turns),
        kept_events=len(kept),
        kept_tokens=chosen.tokens,
        dropped_events=len(look.sight.steps) - len(kept),
        dropped_tokens=sum(step.tokens for step in look.sight.steps) - sum(step.tokens for step in kept),
        first_preview=spoken[0] if spoken else "",
        last_preview=spoken[-1] if spoken else "",
        squash=look.wish.squash or 0,
        newest=look.sight.turns[-1].first,
        drop_thinking=look.sight.trial.order.drop_thinking,
        title=window.own_title or window.file_title or window.guessed_title,
    )


def _mark(step: Step | None) -> Mark | None:
    return Mark(step.idx, step.uuid, utc(step.at), step.preview or "") if step is not None else None


def _tokens(text: str, window: Window) -> int:
    return round(sum(estimate([text], generation_of(window.model)))) if text else 0


def _warnings(look: Look, chosen: Chosen, run: Run, plan: Plan) -> list[Warning]:
    window = look.sight.window
    found = warnings_of(
        chosen,
        look.sight.steps,
        floor=look.sight.before.floor,
        used_before=run.used_before,
        used_after=run.used_after,
        window=run.window_tokens,
        compacts_at=window.compacts_at,
        thinking_dropped=plan.thinking_dropped,
    )
    if is_mid_turn(look.sight.steps):
        found.append({"code": "mid-turn"})
    quiet = silence(window, look.now)
    if quiet is not None and quiet < settings.ENV.idle_seconds:
        found.append({"code": "live-chat", "seconds": max(0, round(quiet))})
    # The index stands before the last newline.
    if window.transcript.offset + 1 < look.sight.reader.identity.size:
        found.append({"code": "half-line"})
    if window.bad_lines:
        found.append({"code": "bad-lines", "count": window.bad_lines})
    if plan.unpaired:
        found.append({"code": "unpaired", "count": plan.unpaired})
    return [*found, *look.warnings]
