"""Stored answers of idempotent requests."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class KeptAnswer(models.Model):
    """The answer to a request, for repetitions with the same Idempotency-Key."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=100)
    request = models.CharField(max_length=64)  # SHA-256 of method, address and body
    status = models.PositiveSmallIntegerField()
    etag = models.CharField(max_length=80, blank=True)
    body = models.BinaryField()  # JSON, compressed by zlib
    at = models.DateTimeField(db_default=Now())

    class Meta:
        app_label = "lib"
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="keptanswer_one_for_a_key")]
        indexes = [models.Index(fields=["user", "id"], name="keptanswer_by_user"), models.Index(fields=["at"], name="keptanswer_by_time")]

    def __str__(self) -> str:
        return self.key
