"""The one-time link that lets the operator in."""

from django.utils import timezone

from companion.models import SignInLink


def sign_in_url(base: str) -> str:
    return f"{base}/sign-in/{SignInLink.make(timezone.now())}/"
