"""Read access to accounts."""

from dataclasses import dataclass
from typing import Final

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from apps.accounts.models import RoleChange, User
from apps.accounts.roles import Role

PER_PAGE: Final = 50
VIEWS: Final = ("staff", "all")


@dataclass(frozen=True)
class AccountRow:
    """An account as a row of the list."""

    user: User
    roles: str
    factor: bool
    waiting: bool


def list_accounts(view: str, text: str) -> QuerySet[User]:
    """Return staff, or all accounts with view "all", filtered by a part of a name or address."""
    chosen = User.objects.filter(is_staff=True) if view == "staff" else User.objects.all()
    text = text.strip()
    said = Q(username__icontains=text) | Q(first_name__icontains=text) | Q(last_name__icontains=text) | Q(email__icontains=text)
    return (chosen.filter(said) if text else chosen).order_by("first_name", "last_name", "username")


def build_page(view: str, text: str, number: int) -> Page[AccountRow]:
    """Return a page of the list; the last page if there are fewer."""
    shown = Paginator(list_accounts(view, text), PER_PAGE).get_page(number)
    users = list(shown)
    factors = set(_list_factors().filter(user__in=users).values_list("user", flat=True))
    waits = set(RoleChange.objects.filter(user__in=users, state=RoleChange.State.WAITING).values_list("user", flat=True))
    rows = [AccountRow(user, describe_roles(user.roles), user.pk in factors, user.pk in waits) for user in users]
    return Page(rows, shown.number, shown.paginator)  # type: ignore[arg-type]  # the page counts accounts, and shows a row for each


def _list_factors() -> QuerySet[Authenticator]:
    """Return all second factors. Recovery codes alone do not count as one."""
    found: QuerySet[Authenticator] = Authenticator.objects.exclude(type=Authenticator.Type.RECOVERY_CODES)
    return found


def describe_roles(roles: list[str]) -> str:
    """Return the roles in words: “network admin, approver”."""
    return ", ".join(str(Role(role).label) for role in roles if role in Role.values)


def list_factor_types(user: User) -> list[str]:
    """Return the kinds of second factors that the account has, in allauth's words."""
    return list(_list_factors().filter(user=user).order_by("type").values_list("type", flat=True).distinct())


def list_sessions(user: User) -> list[UserSession]:
    """Return the account's live sessions, the last seen first."""
    return sorted(UserSession.objects.purge_and_list(user), key=lambda row: -row.last_seen_at.timestamp())


def list_role_changes(user: User) -> QuerySet[RoleChange]:
    """Return the account's changes of roles, the newest first."""
    return RoleChange.objects.filter(user=user).select_related("by", "decided_by", "user")
