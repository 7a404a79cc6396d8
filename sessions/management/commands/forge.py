"""`manage.py forge SESSION`: keep the near talk, begin a new window with a hand-off (spec W2)."""

from __future__ import annotations

from sessions.management.run_command import PlanCommand
from sessions.models import Run


class Command(PlanCommand):
    help = "Keep the near talk and begin a new window with a hand-off. Writes a new session, never touches the old one."
    kind = Run.Kind.FORGE
