"""Undo of the last change of a row, read from its history.

An added row is removed, a changed row gets its former values back, and a removed row returns under its old id, together with the
parts that were removed in the same transaction. Models take part by `TrailPresentation.undo_by`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Model
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.entries import UNDO_FOR, list_shown_fields
from apps.audit.trail import RowUndoPolicy, TrailPresentation, get_trail
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem


def find_last_event(model: type[Model], pk: int) -> int | None:
    """Return the id of the row's last event in the history; None if it has none."""
    found: int | None = (
        get_trail(model).events._default_manager.filter(pgh_obj_id=pk).order_by("-pgh_id").values_list("pgh_id", flat=True).first()
    )
    return found


@dataclass(frozen=True, slots=True)
class UndoneChange:
    """The name of the row, and the URL of its page; "" if undoing removed the row."""

    name: str
    url: str


def undo_event(*, model: type[Model], event: int, by: Any) -> UndoneChange:
    """Undo this event of a row of the model.

    Raises Conflict if the row was changed again since, and Problem if the event is too old or the former state is impossible now.
    """
    trail = get_trail(model)
    undo = trail.undo_by
    if undo is None:
        raise Problem(_("This change cannot be undone."))
    try:
        with transaction.atomic():
            done = _get_last_event(trail, event)
            _undo(trail, undo, done)
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a missing foreign key is refused here, and not when the request ends
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise undo.explain(error, _build_row(trail, _find_former_event(trail, done) or done)) from error
    row = _build_row(trail, done)
    return UndoneChange(trail.words(row), trail.href(row) if done.pgh_label != "insert" else "")


def _get_last_event(trail: TrailPresentation, pk: int) -> Any:
    """Return the event, with its row locked. Raises Problem if it is gone or too old, Conflict if it is not the row's last one."""
    events = trail.events._default_manager
    event = events.filter(pk=pk, pgh_created_at__gt=timezone.now() - UNDO_FOR).first()
    if event is None:
        raise Problem(_("This change is too old to be undone; make the opposite change."))
    list(trail.model._base_manager.select_for_update(of=("self",)).filter(pk=event.pgh_obj_id).values_list("pk"))
    if events.filter(pgh_obj_id=event.pgh_obj_id, pgh_id__gt=pk).exists():
        raise Conflict(_("It was changed again since. Look at the history, and undo the last change first."))
    return event


def _undo(trail: TrailPresentation, undo: RowUndoPolicy, event: Any) -> None:
    if event.pgh_label == "delete":
        undo.prepare(_build_row(trail, event), None)
        _restore(trail, event)
        for part in undo.parts:
            _restore_parts(get_trail(part), trail.model, event)
        return
    row = trail.model._base_manager.get(pk=event.pgh_obj_id)
    if event.pgh_label == "insert":
        undo.remove(row)
        return
    before = _find_former_event(trail, event)
    if before is None:
        raise Problem(_("The state before this change is no longer in the history."))
    undo.prepare(_build_row(trail, before), row)
    former = _read_values(trail, before)
    trail.model._base_manager.filter(pk=row.pk).update(**(former | {"version": F("version") + 1}))


def _find_former_event(trail: TrailPresentation, event: Any) -> Any | None:
    """Return the event with the state that undoing this one brings back; None if it is no longer in the history."""
    if event.pgh_label == "delete":
        return event
    return trail.events._default_manager.filter(pgh_obj_id=event.pgh_obj_id, pgh_id__lt=event.pk).order_by("-pgh_id").first()


def _restore(trail: TrailPresentation, event: Any) -> None:
    row = _build_row(trail, event)
    row.version = event.version + 1
    row.save(force_insert=True)


def _restore_parts(trail: TrailPresentation, parent: type[Model], event: Any) -> None:
    """Insert the rows of this model again that referred to the parent and were removed in the same transaction."""
    [key] = [field.attname for field in list_shown_fields(trail) if field.related_model is parent]
    removed: Mapping[str, int | datetime | str] = {key: event.pgh_obj_id, "pgh_label": "delete", "pgh_created_at": event.pgh_created_at}
    rows = [_build_row(trail, each) for each in trail.events._default_manager.filter(**removed)]
    trail.model._base_manager.bulk_create(rows, 5_000)


def _build_row(trail: TrailPresentation, event: Any) -> Any:
    return trail.model(**_read_values(trail, event), version=event.version)


def _read_values(trail: TrailPresentation, event: Any) -> dict[str, Any]:
    """Return the row's columns as they were at the event, without its version."""
    return {field.attname: getattr(event, field.attname) for field in list_shown_fields(trail) if field.name != "version"}
