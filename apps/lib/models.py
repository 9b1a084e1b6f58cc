"""Abstract base models, and stored answers of the API."""

from collections.abc import Collection
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models.base import ModelState
from django.db.models.expressions import RawSQL
from django.db.models.fetch_modes import FetchMode
from django.db.models.functions import Now

from apps.lib.fields import TransactionIdField


class DirectlyLoaded(models.Model):
    """A row whose values are put straight into the instance when it is read, in half the time of Django's constructor.

    Django's documentation names `from_db` for this. Not for models with file fields or with receivers of `pre_init` and `post_init`.
    Columns that were not read are deferred, as usual.
    """

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any], *, fetch_mode: FetchMode | None = None) -> Self:
        row = cls.__new__(cls)
        row.__dict__.update(zip(field_names, values, strict=True))
        row._state = ModelState()
        row._state.adding, row._state.db = False, db
        if fetch_mode is not None:
            row._state.fetch_mode = fetch_mode
        return row


class Versioned(models.Model):
    """A row that forms and scripts edit. Its version detects outdated saves."""

    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True


class Deployed(DirectlyLoaded):
    """A row that reaches the gateways. The database records when, and in which transaction, it was last written."""

    changed_in = TransactionIdField(db_default=RawSQL("pg_current_xact_id()", ()), editable=False)
    changed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True


class KeptAnswer(models.Model):
    """The stored answer to an API request, for repetitions with the same Idempotency-Key."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=100)
    request = models.CharField(max_length=64)  # SHA-256 of method, address and body
    status = models.PositiveSmallIntegerField()
    etag = models.CharField(max_length=80, blank=True)
    location = models.CharField(max_length=200, blank=True, default="", db_default="")
    body = models.BinaryField()  # JSON, compressed by zlib
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="keptanswer_one_for_a_key")]
        indexes = [models.Index(fields=["user", "id"], name="keptanswer_by_user"), models.Index(fields=["at"], name="keptanswer_by_time")]

    def __str__(self) -> str:
        return self.key
