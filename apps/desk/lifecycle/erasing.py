"""Erasing the personal data of members who have left long ago.

What stays is who held which address when, under the number alone. Erased is also what the history had kept, in the tables of events.
"""

from datetime import datetime, timedelta
from typing import Any

import structlog
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F, Model, QuerySet
from django.db.models.functions import Now

from apps.accounts import sessions
from apps.accounts.models import ApiToken, Invitation, User
from apps.bans.models import Block
from apps.lib import hanging
from apps.mail import keeping
from apps.mail.models import Message as Mail
from apps.members.models import Device, Member
from apps.nat.models import Pinhole, PortForward
from apps.tickets.models import Attachment, Message, Ticket
from apps.traffic.rates.models import RateLimit
from apps.webhooks import services as webhooks

NO_MAC = "00:00:00:00:00:00"
log = structlog.get_logger()


def due(now: datetime) -> QuerySet[Member]:
    """Members whose data have been kept long enough."""
    until = now - timedelta(days=max(settings.ERASE_DAYS, settings.HOLD_DAYS))
    return Member.objects.filter(state=Member.State.LEFT, erased_at=None, left_at__lte=until).order_by("pk")


@transaction.atomic
def erase(who: Member) -> bool:
    """Forget who this was. False when they have come back, or it was done before."""
    pk = who.pk
    member = Member.objects.select_for_update(of=("self",)).filter(pk=pk, state=Member.State.LEFT, erased_at=None).first()
    if member is None:
        return False
    hanging.end(Member, [pk])
    nobody = f"m-{pk}@erased.invalid"
    keeping.forget(member, theirs_alone(member), instead=nobody)
    if member.user:
        _account(member.user)
    Invitation.objects.filter(email__iexact=member.email).exclude(email="").update(email=nobody)
    Device.objects.filter(member=pk).delete()
    _everywhere(Device, {"member": pk}, {"name": "–", "mac": NO_MAC})
    of_holding = {"holding__member": pk}
    _everywhere(PortForward, of_holding, {"purpose": ""})
    _everywhere(Pinhole, of_holding, {"purpose": ""})
    _everywhere(Block, {"member": pk}, {"message": "", "note": ""})
    _everywhere(RateLimit, {"member": pk}, {"note": ""})
    _tickets(pk)
    _everywhere(Member, {"pk": pk}, {"name": f"M-{member.number}", "email": "", "note": ""})
    Member.objects.filter(pk=pk).update(erased_at=Now(), version=F("version") + 1, user=None, room=None)
    log.info("personal data erased", member=member.number)
    return True


def theirs_alone(member: Member) -> list[str]:
    """The member's addresses for mail, without those that another member has too."""
    own = {member.email, member.user.email if member.user and not member.user.is_staff else ""} - {""}
    return [each for each in sorted(own) if not Member.objects.exclude(pk=member.pk).filter(email__iexact=each).exists()]


def _everywhere(model: type[Model], where: dict[str, Any], values: dict[str, Any]) -> None:
    """In the rows, in all that the history tells of them and of those that are no more, and in what webhooks were told of that."""
    rows = model._default_manager.filter(**where)
    pks = list(rows.values_list("pk", flat=True))
    rows.update(**values)
    history = model.pgh_event_model  # type: ignore[attr-defined]  # of tracked models
    events = history._default_manager
    gone = events.filter(member=where["member"]) if "member" in where else events.none()
    pks += gone.values_list("pgh_obj_id", flat=True)
    events.filter(pgh_obj_id__in=pks).update(**values)
    webhooks.forget(source=history._meta.db_table, ids=pks)


def _tickets(member: int) -> None:
    """That there were tickets, when and how they ended stays; not what they said."""
    _everywhere(Ticket, {"member": member}, {"subject": "–", "address": "", "tags": []})
    Attachment.objects.filter(message__ticket__member=member).delete()
    told = Mail.objects.filter(about_type=Ticket._meta.label_lower, about_id__in=Ticket.objects.filter(member=member).values("pk"))
    told.filter(state=Mail.State.WAITING).delete()
    told.update(subject="–", text="", html="", erased=Now())
    Message.objects.filter(ticket__member=member).update(text="", sender="", message_id=None, came_as=None)


def _account(user: User) -> None:
    """Closed, without a name; that of staff stays."""
    user.refresh_from_db()
    if user.is_staff:
        return
    sessions.end_all(user=user)
    for model in (Authenticator, ApiToken, EmailAddress, SocialAccount):
        model.objects.filter(user=user).delete()
    values = {"username": f"erased-{user.pk}", "first_name": "", "last_name": "", "email": ""}
    _everywhere(User, {"pk": user.pk}, values)
    User.objects.filter(pk=user.pk).update(is_active=False, password=make_password(None))
