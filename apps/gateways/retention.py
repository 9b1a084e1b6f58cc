"""Declares how this app's table is bounded: by what people enter, and by a maximum (joining/services.py)."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.PEOPLE, "gateways.JoiningMachine")
