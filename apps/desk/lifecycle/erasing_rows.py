"""Erasing values of rows wherever they are stored: in the table, in its history, and in deliveries to webhooks."""

from typing import Any

from django.db.models import Model

from apps.webhooks import services as webhooks

OWNERS = ("member", "user")  # fields by which the history of deleted rows is found


def erase_rows_and_history(model: type[Model], where: dict[str, Any], values: dict[str, Any]) -> None:
    """Set `values` in all rows that `where` finds and in all of their history, also that of deleted rows; delete their webhook
    deliveries.
    """
    rows = model._default_manager.filter(**where)
    pks = list(rows.values_list("pk", flat=True))
    rows.update(**values)
    history = model.pgh_event_model  # type: ignore[attr-defined]  # tracked models have it
    events = history._default_manager
    owner = {name: where[name] for name in OWNERS if name in where}
    pks += events.filter(**owner).values_list("pgh_obj_id", flat=True) if owner else []
    events.filter(pgh_obj_id__in=pks).update(**values)
    webhooks.forget_deliveries(source=history._meta.db_table, ids=pks)
