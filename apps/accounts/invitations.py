"""Invitations: an administrator names an address and roles; the link in the mail makes the account, once.

The link is signed with the portal's secret key and names a row, so it can be withdrawn and expires.
"""

from datetime import timedelta

from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.address_owners import list_accounts_of_address
from apps.accounts.models import Invitation, User
from apps.accounts.role_changes import list_invitable_roles
from apps.accounts.roles import Role
from apps.lib.email_address import is_same_address, lower_ascii
from apps.lib.errors import Conflict, Problem
from apps.preferences.declarations import INVITATION_DAYS, NETWORK_NAME
from apps.preferences.selectors import read_setting

_signer = Signer(salt="invitation")


def create_invitation(*, email: str, roles: list[str], by: User) -> tuple[Invitation, str]:
    """Create an invitation; return it with its token.

    Raises Problem if the address has an account or an open invitation, or if `by` may not give these roles.
    """
    address = lower_ascii(email.strip())
    if has_account(address):
        raise Problem(_("%(address)s has an account already.") % {"address": address}, fieldname="email")
    if not set(roles) <= set(Role.values):
        raise Problem(_("There is no such role."), fieldname="roles")
    _check_grants(roles, by)
    try:
        with transaction.atomic():
            Invitation.objects.filter(email=address, taken=None, withdrawn=None, expires__lte=Now()).update(withdrawn=Now())
            expires = timezone.now() + timedelta(days=read_setting(INVITATION_DAYS))
            made = Invitation.objects.create(email=address, roles=roles, by=by, expires=expires)
    except IntegrityError as error:
        raise Problem(_("%(address)s is invited already.") % {"address": address}, fieldname="email") from error
    return made, _signer.sign(str(made.pk))


def _check_grants(roles: list[str], by: User) -> None:
    """Raise Problem unless `by` may give these roles by invitation, which excludes roles that need a second person."""
    if not set(roles) <= list_invitable_roles(by):
        words = _("An invitation cannot include these roles. Invite with other roles, then change them on the page of the account.")
        raise Problem(words, fieldname="roles")


def send_invitation(invitation: Invitation, url: str) -> None:
    """Send the mail with the link."""
    network = read_setting(NETWORK_NAME)
    context = {"invitation": invitation, "url": url, "network": network, "days": read_setting(INVITATION_DAYS)}
    subject = _("Your account at %(network)s") % {"network": network}
    EmailMessage(subject, render_to_string("accounts/email/invitation.txt", context), to=[invitation.email]).send()


def find_invitation(token: str) -> Invitation | None:
    """Return the open invitation of this token. None if it was accepted, withdrawn or has expired, or if the signature is wrong.

    Also None if its author may no longer give these roles.
    """
    try:
        pk = int(_signer.unsign(token))
    except (BadSignature, ValueError):
        return None
    found = Invitation.objects.filter(pk=pk, taken=None, withdrawn=None, expires__gt=Now()).select_related("by").first()
    return found if found and set(found.roles) <= list_invitable_roles(found.by) else None


@transaction.atomic
def accept_invitation(invitation: Invitation, *, username: str, first_name: str, last_name: str, password: str) -> User:
    """Create the account.

    Its address counts as confirmed, since the link was sent there. Raises Conflict if the invitation was used or has ended, Problem
    if the name is taken, or if the address got an account after the invitation was sent.
    """
    taken = Invitation.objects.filter(pk=invitation.pk, taken=None, withdrawn=None, expires__gt=Now())
    if taken.update(taken=Now()) != 1:
        raise Conflict(_("This invitation has already been used or has expired."))
    if has_account(invitation.email):
        words = _("There is an account with %(address)s already. Sign in with it, and ask an administrator to give it the roles.")
        raise Problem(words % {"address": invitation.email})
    given = {"username": username, "first_name": first_name, "last_name": last_name, "password": password}
    return make_account(email=invitation.email, roles=invitation.roles, **given)


@transaction.atomic
def make_account(*, email: str, username: str, first_name: str, last_name: str, password: str, roles: list[str]) -> User:
    """Create an account for a person who opened a link that was sent to this address, which confirms the address.

    Raises Problem if the name is taken or may be somebody else's address, or if another account confirmed the address in the same
    moment.
    """
    _check_username(username, email)
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, email, password, roles=roles, first_name=first_name, last_name=last_name)
    except IntegrityError as error:
        raise Problem(_("%(name)s is taken. Choose another name.") % {"name": username}, fieldname="username") from error
    try:
        with transaction.atomic():
            EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    except IntegrityError as error:
        raise Problem(_("There is an account with %(address)s already.") % {"address": email}) from error
    return user


def _check_username(username: str, email: str) -> None:
    """Raise Problem for a name with @ unless it is the own address.

    Signing in looks for a name first: the person whose address is another's name could not sign in by it.
    """
    if "@" in username and not is_same_address(User.normalize_username(username), email):
        raise Problem(_("A username contains no @ unless it is your own e-mail address."), fieldname="username")


def has_account(email: str) -> bool:
    """True if an account with this address exists."""
    return bool(list_accounts_of_address(email))


def withdraw_invitation(invitation: Invitation) -> None:
    """Withdraw the invitation: its link no longer works."""
    Invitation.objects.filter(pk=invitation.pk, taken=None, withdrawn=None).update(withdrawn=Now())
