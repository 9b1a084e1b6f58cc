"""Model of the settings: one row, in which each setting has a column and a constraint; NULL is the default."""

from typing import Final

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from apps.lib.database.history import track_history
from apps.lib.models import Versioned
from apps.preferences.declarations import SETTINGS

ONLY: Final = 1  # the id of the one row


class NetworkSettings(Versioned):
    """The settings of the network. The row is made by the first change; its columns come from `declarations.SETTINGS`."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=ONLY), name="networksettings_one_row"),
            models.CheckConstraint(
                condition=Q(hold_days=None) | Q(erase_days=None) | Q(erase_days__gte=F("hold_days")),
                name="networksettings_erased_after_hold",
            ),
            *(each.build_constraint() for each in SETTINGS),
        ]

    def __str__(self) -> str:
        return _("The network")


for _setting in SETTINGS:
    NetworkSettings.add_to_class(_setting.name, _setting.build_column())
track_history()(NetworkSettings)
