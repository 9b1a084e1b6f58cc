"""Erasure of the personal data of members who left long ago.

What stays is who held which address when, under the member's number only. The history's event tables are erased, too.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.hashers import make_password
from django.db import connection, transaction
from django.db.models import F, Model, QuerySet
from django.db.models.functions import Now

from apps.accounts import sessions
from apps.accounts.models import ApiToken, Invitation, User
from apps.bans.models import Block
from apps.desk.lifecycle.erasing_rows import erase_rows_and_history
from apps.desk.lifecycle.erasing_tickets import erase_tickets
from apps.inbound_mail import retention_sweep as arrivals
from apps.lib import dependents
from apps.mail import retention_sweep
from apps.members.models import Device, Member
from apps.nat.models import Pinhole, PortForward
from apps.preferences.declarations import ERASE_DAYS, HOLD_DAYS
from apps.preferences.selectors import read_setting
from apps.status.subscriptions.services import forget_subscriptions
from apps.traffic.rates.models import RateLimit
from apps.webhooks import services as webhooks

NO_MAC = "00:00:00:00:00:00"
log = structlog.get_logger()


def list_members_to_erase(now: datetime) -> QuerySet[Member]:
    """Return members who left longer ago than both ERASE_DAYS and HOLD_DAYS."""
    until = now - timedelta(days=max(read_setting(ERASE_DAYS), read_setting(HOLD_DAYS)))
    return Member.objects.filter(state=Member.State.LEFT, erased_at=None, left_at__lte=until).order_by("pk")


class ErasureElsewhereError(Exception):
    """Another process erases a member at this moment."""


@transaction.atomic
def erase_member(who: Member) -> bool:
    """Erase the member's personal data. Return False when the member has come back, or was erased before.

    Raises ErasureElsewhereError: two erasures would search the same mails, and wait for each other.
    """
    _demand_lock()
    pk = who.pk
    member = Member.objects.select_for_update(of=("self",)).filter(pk=pk, state=Member.State.LEFT, erased_at=None).first()
    if member is None:
        return False
    dependents.end_dependents(Member, [pk])
    nobody, addresses = f"m-{pk}@erased.invalid", list_sole_email_addresses(member)
    erase_tickets(member, addresses)
    retention_sweep.forget_mails(member, addresses, instead=nobody)
    arrivals.erase_mails_of_addresses(addresses)
    forget_subscriptions(addresses)
    if member.user:
        _erase_account(member.user)
    _erase_invitations(addresses, nobody)
    member.announcements.all().delete()
    Device.objects.filter(member=pk).delete()
    erase_rows_and_history(Device, {"member": pk}, {"name": "–", "mac": NO_MAC})
    of_holding = {"holding__member": pk}
    erase_rows_and_history(PortForward, of_holding, {"purpose": ""})
    erase_rows_and_history(Pinhole, of_holding, {"purpose": ""})
    erase_rows_and_history(Block, {"member": pk}, {"message": "", "note": ""})
    erase_rows_and_history(RateLimit, {"member": pk}, {"note": ""})
    erase_rows_and_history(Member, {"pk": pk}, {"name": f"M-{member.number}", "email": "", "note": ""})
    Member.objects.filter(pk=pk).update(erased_at=Now(), version=F("version") + 1, user=None, room=None)
    log.info("personal data erased", member=member.number)
    return True


def _demand_lock() -> None:
    """Take the lock of erasures until the transaction ends. Raises ErasureElsewhereError."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtext('members_member.erased_at'))")
        if not cursor.fetchone()[0]:
            raise ErasureElsewhereError


def list_sole_email_addresses(member: Member) -> list[str]:
    """Return the e-mail addresses that the member has or ever had, without those that another member or account has, too."""
    own = {member.email, *_list_past_addresses(Member, member.pk)}
    if member.user and not member.user.is_staff:
        own |= {member.user.email, *_list_past_addresses(User, member.user.pk)}
        own |= set(EmailAddress.objects.filter(user=member.user).values_list("email", flat=True))
    return [each for each in sorted(own - {""}) if not _is_anothers(each, member)]


def _list_past_addresses(model: type[Model], pk: int) -> list[str]:
    """Return the e-mail addresses of the row in its history."""
    events = model.pgh_event_model._default_manager  # type: ignore[attr-defined]  # tracked models have it
    return list(events.filter(pgh_obj_id=pk).order_by().values_list("email", flat=True).distinct())


def _is_anothers(address: str, member: Member) -> bool:
    members = Member.objects.exclude(pk=member.pk).filter(email__iexact=address)
    users = User.objects.filter(email__iexact=address)
    return members.exists() or (users.exclude(pk=member.user_id) if member.user_id else users).exists()


def _erase_invitations(addresses: Sequence[str], nobody: str) -> None:
    """Erase the addresses in invitations to an account.

    Open ones are withdrawn first, because an address may have only one open invitation, and all get the same replacement.
    """
    for address in addresses:
        Invitation.objects.filter(email__iexact=address, taken=None, withdrawn=None).update(withdrawn=Now())
        erase_rows_and_history(Invitation, {"email__iexact": address}, {"email": nobody})


def _erase_account(user: User) -> None:
    """Close the account and erase its data; accounts of staff are kept."""
    user.refresh_from_db()
    if user.is_staff:
        return
    sessions.end_all_sessions(user=user)
    erase_rows_and_history(ApiToken, {"user": user.pk}, {"name": "–"})
    for model in (Authenticator, ApiToken, EmailAddress, SocialAccount):
        model.objects.filter(user=user).delete()
    webhooks.forget_deliveries_by(user.pk)
    values = {"username": f"erased-{user.pk}", "first_name": "", "last_name": "", "email": ""}
    erase_rows_and_history(User, {"pk": user.pk}, values)
    User.objects.filter(pk=user.pk).update(is_active=False, password=make_password(None))
