"""Services that write tariffs. Every refusal is a sentence; a save with an old version overwrites nothing."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.members.models import HIGHEST_KBIT, LOWEST_KBIT, Member, Tariff


@dataclass(frozen=True, slots=True)
class TariffTerms:
    """The terms of a tariff, as in the model. Rates are in kbit/s, None for unlimited."""

    name: str
    most_forwards: int = 8
    most_devices: int = 8
    up_kbit: int | None = None
    down_kbit: int | None = None
    trial: bool = False
    offered: bool = True


def add_tariff(*, terms: TariffTerms, by: User | None) -> Tariff:
    """Add a tariff. Raises Problem when the name is taken or a rate is out of range."""
    tariff = Tariff(**_read_terms(terms))
    try:
        with transaction.atomic():
            tariff.save(force_insert=True)
            enqueue_task("workers.reconcile", by and by.pk)
    except IntegrityError as error:
        raise explain_tariff_error(error, tariff) from error
    return tariff


def change_tariff_terms(*, tariff: Tariff, version: int, terms: TariffTerms, by: User | None) -> Tariff:
    """Change a tariff for all who have it.

    Raises Conflict when it was changed since `version`, Problem when the name is taken or a rate is out of range.
    """
    given = _read_terms(terms)
    try:
        with transaction.atomic():
            if not Tariff.objects.filter(pk=tariff.pk, version=version).update(version=F("version") + 1, **given):
                raise Conflict(
                    _("This tariff was changed by someone else while you were editing. Look at it as it is now, then save again.")
                )
            enqueue_task("workers.reconcile", by and by.pk)
    except IntegrityError as error:
        raise explain_tariff_error(error, Tariff(**given)) from error
    tariff.refresh_from_db()
    return tariff


@transaction.atomic
def remove_tariff(row: Tariff) -> None:
    """Remove a tariff that no member has or had. Raises Problem, naming one who has, otherwise. Removing twice is harmless."""
    list(Tariff.objects.select_for_update().filter(pk=row.pk).values_list("pk"))
    users = Member.objects.filter(tariff=row.pk).order_by("state", "name", "pk")
    first = users.first()
    if first is not None:
        raise Problem(_describe_users(row, users.count()), culprit=first)
    Tariff.objects.filter(pk=row.pk).delete()


def explain_tariff_error(error: IntegrityError, tariff: Tariff) -> Problem:
    """Explain the constraint that refuses this tariff."""
    for fieldname in ("up_kbit", "down_kbit"):
        if f"tariff_{fieldname}" in str(error):
            facts = {"lowest": LOWEST_KBIT, "highest": HIGHEST_KBIT}
            return Problem(_("A rate is between %(lowest)d and %(highest)d kbit/s.") % facts, fieldname)
    if "name" not in str(error):
        raise error
    return Problem(_("There is a tariff “%(name)s” already.") % {"name": tariff.name}, "name")


def _describe_users(tariff: Tariff, number: int) -> str:
    sentence = ngettext(
        "%(number)s member has or had the tariff %(tariff)s. To give it to no one else, switch off “Offered”.",
        "%(number)s members have or had the tariff %(tariff)s. To give it to no one else, switch off “Offered”.",
        number,
    )
    return sentence % {"number": formats.format_number(number), "tariff": tariff}


def _read_terms(terms: TariffTerms) -> dict[str, Any]:
    """Return the columns of these terms. Raises Problem for an empty name."""
    name = " ".join(terms.name.split())
    if not name:
        raise Problem(_("Enter a name for the tariff."), "name")
    return asdict(terms) | {"name": name}
