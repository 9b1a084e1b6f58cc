"""How this app's tables are bounded."""

from apps.operations.registry import Bound, bounded

bounded(Bound.PEOPLE, "accounts.User", "accounts.ApiToken", "accounts.Invitation")
bounded(Bound.HISTORY, "accounts.RoleChange")
