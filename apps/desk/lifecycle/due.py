"""Lifecycle steps that are due: each runs in a transaction of its own, so that a failure does not stop the others."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime

import structlog
from django.db import DatabaseError
from django.db.models import Model
from django.utils import timezone

from apps.desk.lifecycle import erasing
from apps.lib.errors import Problem
from apps.members import departures
from apps.nat.moving import services as moving

log = structlog.get_logger()


def carry_out_due_changes(now: datetime) -> None:
    """Carry out due departures and moves, release holdings after the hold period, erase old personal data. Idempotent.

    A run that meets another one while that erases leaves the erasing to it.
    """
    _run_each(departures.list_due_departures(timezone.localdate(now)), departures.carry_out_departure)
    _run_each(moving.list_due_moves(timezone.localdate(now)), moving.carry_out_move)
    _run_each(departures.list_releasable(now), departures.release_departed)
    with suppress(erasing.ErasureElsewhereError):
        _run_each(erasing.list_members_to_erase(now), erasing.erase_member)


def _run_each[Thing: Model](things: Iterable[Thing], do: Callable[[Thing], bool]) -> None:
    for thing in things:
        try:
            do(thing)
        except (Problem, DatabaseError) as error:
            log.error("not carried out", what=type(thing).__name__, id=thing.pk, step=do.__name__, error=str(error))
