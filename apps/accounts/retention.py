"""Retention of this app's tables."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.PEOPLE, "accounts.User", "accounts.ApiToken", "accounts.Invitation")
register_bounded(TableBound.HISTORY, "accounts.RoleChange")
