"""Abstract base models."""

from django.db import models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now

from apps.lib.api.models import KeptAnswer as KeptAnswer
from apps.lib.fields import TransactionIdField


class Versioned(models.Model):
    """A row that forms and scripts edit. Its version detects outdated saves."""

    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True


class Deployed(models.Model):
    """A row that reaches the gateways. The database records when, and in which transaction, it was last written."""

    changed_in = TransactionIdField(db_default=RawSQL("pg_current_xact_id()", ()), editable=False)
    changed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True
