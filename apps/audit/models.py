"""Log of address lookups: which account asked who had an address. A trigger refuses every update and delete."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import AddressField


class Enquiry(models.Model):
    """A question who had an address, and perhaps a port of it, at a moment. The answer is not stored: the tables can give it again."""

    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("asked by"))
    asked = models.DateTimeField(_("requested"), auto_now_add=True)
    address = AddressField(_("address"))
    port = models.PositiveIntegerField(_("port"), null=True, blank=True)
    at = models.DateTimeField(_("when"))
    reason = models.CharField(_("reason"), max_length=200)

    class Meta:
        ordering = ["-id"]
        triggers = [pgtrigger.Protect(name="enquiry_stays", operation=pgtrigger.Update | pgtrigger.Delete)]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="enquiry_has_a_reason"),
            models.CheckConstraint(condition=Q(port=None) | Q(port__isnull=False, port__range=(1, 65535)), name="enquiry_port"),
        ]

    def __str__(self) -> str:
        return f"{self.address}:{self.port}" if self.port else str(self.address)
