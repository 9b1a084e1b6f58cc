"""Bounds of this app's table."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.CODE, "preferences.NetworkSettings")
