"""Mail permits: the addresses from which members may send mail to other networks' servers."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.lib.database.history import track_history
from apps.lib.database.triggers import build_stamp_trigger
from apps.lib.models import Deployed, Versioned
from apps.network.models import Holding


@track_history(exclude=["changed_in", "changed_at"])
class MailPermit(Versioned, Deployed):
    """Lets the holder of an address send mail."""

    holding = models.OneToOneField(Holding, models.CASCADE, related_name="mail_permit")

    class Meta:
        verbose_name = _("mail permit")
        triggers = [build_stamp_trigger()]

    def __str__(self) -> str:
        return str(self.holding.address)
