"""Options and form values become a wish, or one clear error that names the field (spec W3, W4)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from sessions.actions.run_options import BadOptions, wish_of
from sessions.core.ranges import By, End, Side
from sessions.core.selection import Mode, Selection


def refused(kind: str = "forge", **values: Any) -> BadOptions:
    with pytest.raises(BadOptions) as caught:
        wish_of(values, kind)
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def test_nothing_given_is_the_kinds_own_tail() -> None:
    wish = wish_of({}, "diet")

    assert (wish.kind, wish.selection, wish.squash, wish.handoff_days, wish.handoff) == ("diet", None, None, (), None)
    assert (wish.export_only, wish.with_hold, wish.with_backup, wish.force) == (False, True, True, False)


def test_blank_fields_of_a_form_are_nothing_given() -> None:
    values = {"retain": " ", "keep_days": "", "keep_from_idx": "", "handoff_text": "\n", "force": "", "cap": None}

    assert wish_of(values, "forge") == wish_of({}, "forge")


def test_a_tail_has_its_tokens() -> None:
    assert wish_of({"retain": "60000"}, "forge").selection == Selection(Mode.TAIL, retain=60_000)
    assert wish_of({"retain": "60,000"}, "forge").selection == Selection(Mode.TAIL, retain=60_000)
    assert wish_of({"revive": True}, "forge").selection == Selection(Mode.TAIL, revive=True)


def test_days_and_their_cap() -> None:
    wish = wish_of({"keep_days": "2026-03-01,2026-03-02", "cap": "5000"}, "forge")

    assert wish.selection == Selection(Mode.DAYS, days=(date(2026, 3, 1), date(2026, 3, 2)), cap=5_000)


def test_a_range_takes_each_end_its_own_way() -> None:
    wish = wish_of({"keep_from_idx": "#12", "keep_to_ts": "2026-03-01 16:00"}, "forge")

    assert wish.selection == Selection(
        Mode.RANGE, start=End(Side.FROM, By.IDX, "#12"), end=End(Side.TO, By.TIME, "2026-03-01 16:00")
    )


@pytest.mark.parametrize("field", ["keep_from_idx", "keep_from_uuid", "keep_from_ts"])
def test_one_end_alone_is_a_range(field: str) -> None:
    selection = wish_of({field: "16:00" if field.endswith("ts") else "1234"}, "forge").selection

    assert selection is not None
    assert selection.start is not None
    assert selection.end is None


def test_idx_zero_is_an_end() -> None:
    assert wish_of({"keep_to_idx": "0"}, "forge").selection == Selection(Mode.RANGE, end=End(Side.TO, By.IDX, "0"))


def test_switches_come_as_booleans_or_as_a_form_sends_them() -> None:
    told = wish_of({"export_only": True, "no_hold": "on", "no_backup": "1", "force": "true"}, "forge")

    assert (told.export_only, told.with_hold, told.with_backup, told.force) == (True, False, False, True)


def test_an_edited_hand_off_comes_with_its_days() -> None:
    wish = wish_of({"handoff_text": " 薄荷 ", "handoff_days": "2026-03-01"}, "forge")

    assert (wish.handoff, wish.handoff_origin, wish.handoff_days) == ("薄荷", "edited", (date(2026, 3, 1),))


@pytest.mark.parametrize("field", ["retain", "squash", "cap"])
@pytest.mark.parametrize("text", ["-1", "x", "1.5", "٣", "1e5", "10000001", "9" * 400, "0x10", ","])
def test_a_number_that_is_none_is_refused_by_its_field(field: str, text: str) -> None:
    more = {"keep_days": "2026-03-01"} if field == "cap" else {}

    refusal = refused(**{field: text}, **more)

    assert (refusal.code, refusal.fields) == ("bad-number", (field,))
    assert len(refusal.message) < 200


def test_zero_is_no_tail_and_no_cap_but_a_squash_that_cuts_nothing() -> None:
    assert refused(retain="0").code == "bad-number"
    assert refused(keep_days="2026-03-01", cap="0").code == "bad-number"
    assert wish_of({"squash": "0"}, "diet").squash == 0


@pytest.mark.parametrize(
    "values",
    [
        {"retain": "5", "keep_days": "2026-03-01"}, {"retain": "5", "keep_from_idx": "1"},
        {"keep_days": "2026-03-01", "keep_to_ts": "16:00"},
        {"retain": "5", "keep_days": "2026-03-01", "keep_from_idx": "1"},
    ],
)  # fmt: skip
def test_one_way_to_choose_at_a_time(values: dict[str, str]) -> None:
    refusal = refused(**values)

    assert refusal.code == "more-than-one-way"
    assert set(refusal.fields) == set(values)


@pytest.mark.parametrize("side", ["from", "to"])
def test_two_selectors_on_one_end_are_both_named(side: str) -> None:
    refusal = refused(**{f"keep_{side}_idx": "12", f"keep_{side}_ts": "16:00"})

    assert refusal.code == "two-selectors"
    assert refusal.fields == (f"keep_{side}_idx", f"keep_{side}_ts")
    assert "12" in refusal.message
    assert "16:00" in refusal.message


@pytest.mark.parametrize(
    ("values", "code", "field"),
    [
        ({"keep_from_idx": "x"}, "bad-idx", "keep_from_idx"), ({"keep_to_idx": "-1"}, "bad-idx", "keep_to_idx"),
        ({"keep_to_uuid": "abc"}, "short-prefix", "keep_to_uuid"), ({"keep_from_ts": "soon"}, "bad-time", "keep_from_ts"),
        ({"keep_from_ts": "2026-13-01"}, "bad-time", "keep_from_ts"), ({"keep_to_ts": "25:00"}, "bad-time", "keep_to_ts"),
        ({"mode": "sideways"}, "bad-mode", "mode"), ({"mode": "days"}, "nothing-chosen", "keep_days"),
        ({"cap": "5"}, "cap-of-a-tail", "cap"), ({"retain": "5", "cap": "5"}, "cap-of-a-tail", "cap"),
    ],
)  # fmt: skip
def test_what_no_session_could_resolve_is_refused_at_once(values: dict[str, str], code: str, field: str) -> None:
    refusal = refused(**values)

    assert (refusal.code, refusal.fields[0]) == (code, field)


@pytest.mark.parametrize("field", ["keep_days", "handoff_days"])
@pytest.mark.parametrize("text", ["2026-02-30", "someday", ",", "2026-03-01,x"])
def test_a_day_that_is_none_is_refused_by_its_field(field: str, text: str) -> None:
    assert refused(**{field: text}).fields == (field,)


@pytest.mark.parametrize("field", ["handoff", "handoff_text", "handoff_days"])
def test_a_diet_takes_no_hand_off(field: str) -> None:
    refusal = refused("diet", **{field: "2026-03-01"})

    assert (refusal.code, refusal.fields) == ("no-handoff-in-diet", (field,))


def test_a_file_and_days_of_a_hand_off_are_one_too_many() -> None:
    assert refused(handoff="board.md", handoff_days="2026-03-01").fields == ("handoff", "handoff_days")


def test_a_path_is_never_read_here() -> None:
    assert wish_of({"handoff": "/etc/passwd"}, "forge").handoff is None


def test_a_form_that_says_its_mode_is_read_by_that_mode_alone() -> None:
    values = {"retain": "60000", "keep_days": "2026-03-01", "keep_from_idx": "3", "cap": "500"}

    assert wish_of({**values, "mode": "tail"}, "forge").selection == Selection(Mode.TAIL, retain=60_000)
    assert wish_of({**values, "mode": "days"}, "forge").selection == Selection(
        Mode.DAYS, days=(date(2026, 3, 1),), cap=500
    )
    assert wish_of({**values, "mode": "range"}, "forge").selection == Selection(
        Mode.RANGE, start=End(Side.FROM, By.IDX, "3"), cap=500
    )


@pytest.mark.parametrize("text", ["<script>alert(1)</script>" * 90, "\x1b]8;;x\x07", "\u202e", "a\x00"])
def test_hostile_values_are_bounded_and_made_visible(text: str) -> None:
    for field in ("retain", "keep_from_ts", "keep_from_idx", "keep_days", "mode"):
        refusal = refused(**{field: text})

        assert len(refusal.message) < 400
        assert not {"\x1b", "\x07", "\u202e", "\x00"} & set(refusal.message)
