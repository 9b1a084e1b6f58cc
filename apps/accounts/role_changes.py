"""Giving and taking roles: not to oneself, not a role that one lacks, and the approver role only with a second person.

An account that could make an approver, or become the only one, could approve its own requests. So a change that gives or takes the
role approver waits until an approver agrees who did not ask for it; while there is no other approver, it is done at once.
"""

from collections.abc import Iterable
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.last_admin import CONSTRAINT, lock_role_changes
from apps.accounts.models import RoleChange, User
from apps.accounts.roles import RIGHTS, Right, Role, compute_rights, list_roles_with_right
from apps.accounts.security_log import SecurityEvent, log_security_event
from apps.lib.errors import Conflict, Problem

BY_TWO: Final = Right.APPROVE


def list_grantable_roles(by: User) -> frozenset[Role]:
    """Return the roles that this account may give: those that allow no more than the giver may do, if the giver manages accounts."""
    held = compute_rights(by.roles, by_token=False) if by.is_active else frozenset()
    return frozenset(role for role in Role if Right.MANAGE_ACCOUNTS in held and RIGHTS[role] <= held)


def list_invitable_roles(by: User) -> frozenset[Role]:
    """Return the roles that an invitation by this account may carry: never one that needs a second person."""
    return frozenset(role for role in list_grantable_roles(by) if BY_TWO not in RIGHTS[role])


def list_approvers(*, by: User) -> QuerySet[User]:
    """Return the accounts that may agree to a change that `by` asks for."""
    return User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(BY_TWO)).exclude(pk=by.pk).order_by("username")


def needs_approval(before: Iterable[str], after: Iterable[str]) -> bool:
    """True if the change gives or takes the right to approve."""
    return any(BY_TWO in RIGHTS[role] for role in Role if role in set(before) ^ set(after))


def submit_role_change(*, user: User, before: Iterable[str], after: Iterable[str], reason: str, by: User) -> RoleChange:
    """Change an account's roles, at once or after a second person's approval. Raises Conflict if they are no longer `before`.

    Raises Problem if `by` may not ask for this, if the reason is missing, if nothing would change, if another change of these roles
    waits, or if the last network admin would lose that role.
    """
    was, will = _sort_roles(before), _sort_roles(after)
    _check(user, was, will, reason, by)
    try:
        with transaction.atomic():
            lock_role_changes()
            _check_unchanged(user.pk, was)
            if RoleChange.objects.filter(user=user, state=RoleChange.State.WAITING).exists():
                raise Problem(_("A change of these roles is already waiting for a second person. Have it decided, or withdraw it first."))
            waits = needs_approval(was, will) and list_approvers(by=by).exists()
            state = RoleChange.State.WAITING if waits else RoleChange.State.DONE
            made = RoleChange.objects.create(user=user, old=was, new=will, reason=reason.strip(), by=by, state=state)
            if not waits:
                _give(made)
    except IntegrityError as error:
        raise _explain_integrity_error(error, user) from error
    event = SecurityEvent.ROLES_ASKED if made.state == RoleChange.State.WAITING else SecurityEvent.ROLES_CHANGED
    log_security_event(event, user=user, by=by, old=was, new=will, change=made.pk)
    return made


def approve_role_change(change: RoleChange, *, by: User) -> None:
    """Agree as the second person, and change the roles.

    Raises Problem if `by` asked for the change or is no approver, Conflict if it no longer waits.
    """
    if by.pk == change.by_id:
        names = ", ".join(each.name for each in list_approvers(by=by))
        raise Problem(_("You requested this yourself. Another person has to approve it: %(names)s.") % {"names": names or "–"})
    if BY_TWO not in compute_rights(by.roles, by_token=False):
        raise Problem(_("Only an approver can agree to this."))
    try:
        with transaction.atomic():
            lock_role_changes()
            _check_unchanged(change.user_id, change.old)
            _check_grants(change, User.objects.get(pk=change.by_id))
            _decide(change, RoleChange.State.DONE, by)
            _give(change)
    except IntegrityError as error:
        raise _explain_integrity_error(error, change.user) from error
    log_security_event(SecurityEvent.ROLES_CHANGED, user=change.user, by=by, old=change.old, new=change.new, change=change.pk)


def cancel_role_change(change: RoleChange, *, by: User) -> None:
    """End a change that waits: its author withdraws it, or an approver refuses. Raises Conflict if it no longer waits."""
    _decide(change, RoleChange.State.DROPPED, by)
    log_security_event(SecurityEvent.ROLES_DROPPED, user=change.user, by=by, change=change.pk)


def _decide(change: RoleChange, state: str, by: User) -> None:
    waiting = RoleChange.objects.filter(pk=change.pk, state=RoleChange.State.WAITING)
    if waiting.update(state=state, decided_by=by, decided=Now()) != 1:
        raise Conflict(_("This change is no longer waiting. Load the page again."))


def _give(change: RoleChange) -> None:
    User.objects.filter(pk=change.user_id).update(roles=change.new)


def _check(user: User, before: list[str], after: list[str], reason: str, by: User) -> None:
    if user.pk == by.pk:
        raise Problem(_("You cannot change your own roles. Ask another network administrator."))
    if not reason.strip():
        raise Problem(_("Enter a reason; it is kept with the change."), "reason")
    if before == after:
        raise Problem(_("%(person)s already has exactly these roles.") % {"person": user.name}, "roles")
    if Right.MANAGE_ACCOUNTS not in compute_rights(by.roles, by_token=False):
        raise Problem(_("Only a network administrator can change roles."))
    _check_grants(RoleChange(old=before, new=after), by)


def _check_grants(change: RoleChange, by: User) -> None:
    """Raise Problem if `by` may not give one of the added roles. Checked again on agreement: the author may have lost roles meanwhile."""
    if lacking := [str(Role(role).label) for role in change.added_roles if role not in list_grantable_roles(by)]:
        text = _("%(roles)s: only a network administrator who has this role can give it to others.")
        raise Problem(text % {"roles": ", ".join(lacking)}, "roles")


def _sort_roles(roles: Iterable[str]) -> list[str]:
    given = set(roles)
    if not given <= set(Role.values):
        raise Problem(_("There is no such role."), "roles")
    return [role.value for role in Role if role.value in given]


def _check_unchanged(user: int, seen: list[str]) -> None:
    if _sort_roles(User.objects.select_for_update(no_key=True).get(pk=user).roles) != seen:
        raise Conflict(_("These roles were changed by someone else meanwhile. Look at them as they are now."))


def _explain_integrity_error(error: IntegrityError, user: User) -> Problem:
    if CONSTRAINT in str(getattr(getattr(error.__cause__, "diag", None), "constraint_name", "")):
        text = _(
            "%(person)s is the last network administrator, and without one nobody could give roles. Give this role to another person first."
        )
        return Problem(text % {"person": user.name}, "roles")
    raise error
