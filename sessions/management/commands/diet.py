"""`manage.py diet SESSION`: squash old tool results and pictures, keep the talk (spec W1)."""

from __future__ import annotations

from sessions.management.run_command import PlanCommand
from sessions.models import Run


class Command(PlanCommand):
    help = (
        "Squash what tools answered and old pictures; the talk stays. Writes a new session, never touches the old one."
    )
    kind = Run.Kind.DIET
