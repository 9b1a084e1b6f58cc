"""Addresses that get updates of the status page by mail."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.lib.database.email_lookups import AsciiLower


class Subscription(models.Model):
    """An address that asked for updates. confirmed: when its owner followed the link in the mail; None: gets nothing yet."""

    address = models.EmailField()
    language = models.CharField(max_length=2, choices=settings.LANGUAGES)
    asked = models.DateTimeField(db_default=Now())
    confirmed = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["asked"], name="subscription_unconfirmed", condition=Q(confirmed=None))]
        constraints = [
            models.UniqueConstraint(AsciiLower("address"), name="subscription_once"),
            models.CheckConstraint(condition=~Q(address=""), name="subscription_has_an_address"),
        ]

    def __str__(self) -> str:
        return self.address
