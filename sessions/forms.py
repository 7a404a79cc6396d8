"""What a person may ask of the sessions pages, checked before anything is read or written."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from sessions.actions import mark
from sessions.models import Companion, Window
from sessions.models.window import WindowQuerySet

STATES = [("", _("in use")), ("pinned", _("pinned")), ("archived", _("put away")), ("all", _("all"))]
SORTS = [
    ("", _("latest first")),
    ("oldest", _("oldest first")),
    ("used", _("fullest first")),
    ("messages", _("most talked in")),
    ("title", _("by title")),
]
ORDERS: dict[str, list[Any]] = {
    "": ["-is_pinned", F("last_activity").desc(nulls_last=True), "-pk"],
    "oldest": [F("last_activity").asc(nulls_last=True), "pk"],
    "used": ["-used_percent", "-pk"],
    "messages": ["-human_messages", "-pk"],
    "title": ["title", "pk"],
}
NO_NUL = {"\x00": None}


class WindowFilter(forms.Form):
    """The filters of the sessions list, as they stand in its URL."""

    q = forms.CharField(required=False, max_length=200, label=_("Find"))
    companion = forms.ModelChoiceField(
        Companion.objects.none(), required=False, label=_("Companion"), empty_label=_("all companions")
    )
    state = forms.ChoiceField(choices=STATES, required=False, label=_("Show"))
    used = forms.FloatField(
        required=False,
        min_value=0,
        max_value=100,
        label=_("At least %"),
        error_messages={"invalid": _("Give a number from 0 to 100, such as 55.")},
    )
    sort = forms.ChoiceField(choices=SORTS, required=False, label=_("Order"))
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000)

    def __init__(self, data: Any) -> None:
        super().__init__({key: value.translate(str.maketrans(NO_NUL)) for key, value in data.items()})
        self.fields["companion"].queryset = Companion.objects.order_by("name", "pk")  # type: ignore[attr-defined]

    def rows(self) -> WindowQuerySet:
        """The windows that were asked for; a filter that was refused is left out."""
        asked = self.cleaned_data
        found = Window.objects.filter(asked_state(asked.get("state") or ""))
        if asked.get("q"):
            found = found.filter(words(asked["q"]))
        if asked.get("companion"):
            found = found.filter(companion=asked["companion"])
        if asked.get("used"):
            found = found.filter(used_percent__gte=asked["used"])
        return found.order_by(*ORDERS[asked.get("sort") or ""])

    @property
    def is_narrowed(self) -> bool:
        """True when something was asked for, so that an empty list means "none of these"."""
        return any(self.cleaned_data.get(name) for name in ("q", "companion", "used", "state"))


def asked_state(state: str) -> Q:
    return {"": Q(is_archived=False), "pinned": Q(is_pinned=True), "archived": Q(is_archived=True)}.get(state, Q())


def words(text: str) -> Q:
    return (
        Q(title__icontains=text)
        | Q(session_id__istartswith=text)
        | Q(first_words__icontains=text)
        | Q(cwd__icontains=text)
    )


class AnchorFilter(forms.Form):
    """Which anchors of a session: where to go on, in which order, with which words."""

    q = forms.CharField(required=False, max_length=200)
    order = forms.ChoiceField(choices=[("", "newest"), ("oldest", "oldest")], required=False)
    before = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    after = forms.IntegerField(required=False, min_value=-1, max_value=2**31 - 1)

    def __init__(self, data: Any) -> None:
        super().__init__({key: value.translate(str.maketrans(NO_NUL)) for key, value in data.items()})


class TitleForm(forms.Form):
    """The operator's own title; empty gives the session its earlier one back."""

    title = forms.CharField(
        required=False,
        max_length=200,
        label=_("Title"),
        error_messages={"max_length": _("At most 200 characters. Nothing was changed.")},
    )


class SizeForm(forms.Form):
    """The operator's word on how large a window is, in tokens; empty asks model and client again (spec S3)."""

    tokens = forms.IntegerField(
        required=False,
        min_value=mark.SMALLEST_WINDOW,
        max_value=mark.LARGEST_WINDOW,
        label=_("Size"),
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"),
            _("Give a whole number of tokens from 1000 to 10000000, or nothing. Nothing was changed."),
        ),
    )


class NameForm(forms.Form):
    name = forms.CharField(
        max_length=120,
        label=_("Name"),
        error_messages={
            "required": _("A companion needs a name. Nothing was changed."),
            "max_length": _("At most 120 characters. Nothing was changed."),
        },
    )
