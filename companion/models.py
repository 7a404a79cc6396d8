"""Rows of the wiring: who may come in."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import models


class SignInLink(models.Model):
    """A link that signs in once (security row 4). Only the digest of its token is kept."""

    LIFETIME = timedelta(minutes=15)

    digest = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link {self.pk}"

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode(errors="replace")).hexdigest()

    @classmethod
    def make(cls, now: datetime) -> str:
        """A new link's token; every older unused link stops working when it expires, not before."""
        token = secrets.token_urlsafe(32)
        cls.objects.create(digest=cls.digest_of(token), made_at=now)
        return token

    @classmethod
    def use_up(cls, token: str, now: datetime) -> bool:
        """True for the one caller that may come in with this token."""
        fresh = cls.objects.filter(digest=cls.digest_of(token), used_at=None, made_at__gte=now - cls.LIFETIME)
        return fresh.update(used_at=now) == 1
