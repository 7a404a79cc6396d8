"""Words of the dialogue, kept for search and for the day the client deletes its file (spec S9, "never lose a word")."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, HashIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

SAID_BY_A_PERSON = models.Q(kind__in=["h", "q"])


class Utterance(models.Model):
    """What one line of a transcript says: a person's message or an answer with words, on whichever branch it stands.

    Where it stands on the thread is for `Event` of the same transcript and `seq` to tell, for that changes with a rewind.
    """

    pk = models.CompositePrimaryKey("transcript_id", "seq")
    # As in `Event`: a constraint would be checked a million times; whoever deletes a transcript deletes its words.
    transcript = models.ForeignKey(
        "agent_sessions.Transcript", on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    seq = models.IntegerField()
    uuid = models.TextField()
    # Never null, to be an order: a line without a time has that of the line before it.
    at = models.DateTimeField()
    # One letter, see `sessions.core.events.Kind`: h, q or a.
    kind = models.CharField(max_length=1)
    text = models.TextField()
    # Words of `sessions.core.words`, written as they are: no parser of the database has a say in what a word is.
    words = SearchVectorField()

    class Meta:
        indexes = [
            # What waits beside the index is read through by every search: little of it.
            GinIndex(fields=["words"], name="utterance_words", fastupdate=True, gin_pending_list_limit=256),
            models.Index(fields=["-at", "-transcript", "-seq"], name="utterance_latest"),
            # Copies of a message in later windows bear its uuid.
            HashIndex(fields=["uuid"], name="utterance_uuid"),
            models.Index(fields=["transcript", "seq"], name="utterance_said", condition=SAID_BY_A_PERSON),
        ]

    def __str__(self) -> str:
        return f"{self.transcript_id}:{self.seq}"


class WordsCursor(models.Model):
    """How far a transcript's words are kept: the events of its first `lines` lines are covered."""

    transcript = models.OneToOneField(
        "agent_sessions.Transcript", on_delete=models.CASCADE, primary_key=True, related_name="words_cursor"
    )
    lines = models.BigIntegerField(default=0)
    # Counts how often the file was read anew: what was read before is not written after.
    turn = models.IntegerField(default=0)
    last_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.transcript_id}: {self.lines}"
