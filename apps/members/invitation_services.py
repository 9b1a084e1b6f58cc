"""Invitations of members: a mail with a link that connects an account with the membership, once and within some days.

The link is signed. It names the invitation and the address that it was sent to: opening it confirms that address, as long as it
is still the member's.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts import invitations
from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.lib.email_address import is_same_address
from apps.lib.errors import Conflict, Problem
from apps.lib.web.cached_rows import cache_rows
from apps.mail.mail_templates import PlainValue
from apps.mail.services import write_mail
from apps.members.models import Member, MemberInvitation
from apps.preferences.declarations import INVITATION_DAYS
from apps.preferences.selectors import read_setting

_signer: Final = Signer(salt="members.invitation")


@dataclass(frozen=True)
class OpenedInvitation:
    """An invitation that was opened by its link, and the address that the link was sent to."""

    invitation: MemberInvitation
    email: str

    @property
    def member(self) -> Member:
        return self.invitation.member


def invite_member(*, member: Member, by: User) -> MemberInvitation:
    """Mail an invitation link to the member's address; an earlier link becomes invalid.

    Raises Problem when the member has an account already, has left, or has no e-mail address.
    """
    with transaction.atomic():
        now = Member.objects.select_for_update(of=("self",)).get(pk=member.pk)
        _check(now)
        withdraw_any_open_invitation(member=now)
        days = read_setting(INVITATION_DAYS)
        made = MemberInvitation.objects.create(member=now, by=by, expires=timezone.now() + timedelta(days=days))
        context: dict[str, PlainValue] = {"name": now.name, "who": by.name, "days": days, "url": _build_link(made, now.email)}
        write_mail(
            to=now.email, language=now.language, template="member_invited", context=context, about=now, urgent=True, confidential=True,
            key=f"member invitation {made.pk}",
        )  # fmt: skip
    return made


def _check(member: Member) -> None:
    if member.user_id is not None:
        raise Problem(_("%(member)s has an account already.") % {"member": member}, culprit=member)
    if member.state == Member.State.LEFT:
        raise Problem(_("%(member)s has left and cannot be invited.") % {"member": member}, culprit=member)
    if not member.email:
        raise Problem(_("%(member)s has no e-mail address. Enter one, then invite.") % {"member": member}, culprit=member)


def _build_link(made: MemberInvitation, email: str) -> str:
    return f"{settings.PORTAL_URL}{reverse('own:join', args=[_signer.sign_object([made.pk, email])])}"


def withdraw_any_open_invitation(*, member: Member) -> None:
    """Withdraw the member's open invitation, so that its link becomes invalid. Idempotent."""
    MemberInvitation.objects.filter(member=member, taken=None, withdrawn=None).update(withdrawn=Now())


def withdraw_given_invitation(invitation: MemberInvitation) -> None:
    """Withdraw this invitation. Raises Conflict when it was accepted or withdrawn already."""
    still = MemberInvitation.objects.filter(pk=invitation.pk, taken=None, withdrawn=None)
    if not still.update(withdrawn=Now()):
        raise Conflict(_("This invitation was used or withdrawn already."))


def find_open_invitation(member: Member) -> MemberInvitation | None:
    """Return the member's invitation that was neither accepted nor withdrawn, even if it has expired."""
    return next(iter(list_open_invitations(member)), None)


@cache_rows
def list_open_invitations(member: Member) -> QuerySet[MemberInvitation]:
    """Return the member's open invitation, or no row. Read once for all parts of a page."""
    return MemberInvitation.objects.filter(member=member, taken=None, withdrawn=None).select_related("by")[:1]


def get_invitation_by_token(token: str) -> OpenedInvitation:
    """Return the invitation that the link's token opens. Raises Problem with the reason when it is invalid."""
    try:
        pk, email = _signer.unsign_object(token)
        found = MemberInvitation.objects.select_related("member").get(pk=pk)
    except (BadSignature, ValueError, MemberInvitation.DoesNotExist) as error:
        raise Problem(_("This link is not valid. Copy the whole link from the mail.")) from error
    if found.member.user_id is not None:
        raise Problem(_("This membership belongs to an account already. Sign in with it, or ask the administrators."))
    if found.taken or found.withdrawn or found.expires <= timezone.now() or found.member.state == Member.State.LEFT:
        raise Problem(_("This invitation was used or withdrawn, or has expired. Ask for another one."))
    if not is_same_address(str(email), found.member.email):
        raise Problem(_("This invitation went to an address that is no longer on record. Ask for another one."))
    return OpenedInvitation(found, str(email))


@transaction.atomic
def accept_with_new_account(opened: OpenedInvitation, *, username: str, first_name: str, last_name: str, password: str) -> User:
    """Create an account and connect it. Raises Problem when the user name is taken, or another account has the address already."""
    _claim(opened)
    if invitations.has_account(opened.email):
        words = _("There is an account with %(address)s already. Sign in with it, then open the link again.")
        raise Problem(words % {"address": opened.email})
    given = {"first_name": first_name, "last_name": last_name, "password": password}
    user = invitations.make_account(email=opened.email, username=username, roles=[Role.MEMBER.value], **given)
    connect_account(opened.member, user)
    return user


@transaction.atomic
def accept_member_invitation(opened: OpenedInvitation, *, user: User) -> None:
    """Connect the signed-in account. Raises Problem when the account belongs to another membership."""
    theirs = Member.objects.filter(user=user).first()
    if theirs is not None:
        raise Problem(_("Your account belongs to the membership M-%(number)d already.") % {"number": theirs.number})
    _claim(opened)
    connect_account(opened.member, user)


def _claim(opened: OpenedInvitation) -> None:
    still = MemberInvitation.objects.filter(pk=opened.invitation.pk, taken=None, withdrawn=None, expires__gt=Now())
    if still.update(taken=Now()) != 1:
        raise Conflict(_("This invitation was used or withdrawn, or has expired. Ask for another one."))


def connect_account(member: Member, user: User) -> None:
    """Connect the account to the membership. Raises Conflict if the membership has one already."""
    free = Member.objects.filter(pk=member.pk, user=None).exclude(state=Member.State.LEFT)
    if free.update(user=user, version=F("version") + 1) != 1:
        raise Conflict(_("This membership belongs to an account already. Sign in with it, or ask the administrators."))
