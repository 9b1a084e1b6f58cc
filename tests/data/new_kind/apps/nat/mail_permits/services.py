"""Services that grant and withdraw mail permits."""

from apps.nat.mail_permits.models import MailPermit
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.network.models import Holding


def grant_permit(*, holding: Holding, by: User) -> MailPermit:
    """Let the holder send mail from this address. Raises Problem when there is a permit already."""
    try:
        with transaction.atomic():
            permit = MailPermit.objects.create(holding=holding)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise Problem(_("%(address)s may send mail already.") % {"address": holding.address}) from error
    return permit


def withdraw_permit(*, permit: MailPermit, by: User) -> None:
    """Withdraw the permit. Withdrawing it twice is harmless."""
    with transaction.atomic():
        MailPermit.objects.filter(pk=permit.pk).delete()
        enqueue_task("workers.reconcile", by.pk)
