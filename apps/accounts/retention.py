"""Retention of this app's tables."""

from apps.operations.registry import TableBoundKind, register_unpruned_tables

register_unpruned_tables(TableBoundKind.PEOPLE, "accounts.User", "accounts.ApiToken", "accounts.Invitation")
register_unpruned_tables(TableBoundKind.HISTORY, "accounts.RoleChange")
