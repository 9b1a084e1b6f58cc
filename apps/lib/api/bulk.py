"""Bulk requests: all items or none. On failure, errors are reported for each item and nothing is changed.

All items are written at once. Only if that is refused, they are written in ever smaller parts, to find the items at fault. Memory: the
items of one request, at most MAX_ITEMS_PER_REQUEST.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Final

from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _
from rest_framework import exceptions, serializers

from apps.lib.api.etags import build_precondition_error
from apps.lib.api.problems import ItemsRefused, RequestRejected
from apps.lib.api.serializers import ApiSerializer, Reference
from apps.lib.api.unknown_fields import describe_unknown_field
from apps.lib.errors import Problem

MAX_ITEMS_PER_REQUEST: Final = 2000  # items in one request
PARTS: Final = 8  # into which a refused part is split: many for few items at fault, yet hardly more work if all are
REFUSALS = (Problem, IntegrityError, DataError, exceptions.APIException)


def validate_item_list(data: Any) -> list[Any]:
    """Return the data if it is a list of an allowed length. Raises RequestRejected."""
    if not isinstance(data, list) or not data:
        raise RequestRejected(400, _("Send a list with at least one item."))
    if len(data) > MAX_ITEMS_PER_REQUEST:
        raise RequestRejected(
            413, _("%(count)d items are too many. Send at most %(most)d at once.") % {"count": len(data), "most": MAX_ITEMS_PER_REQUEST}
        )
    return data


def load_references(serializer: ApiSerializer, items: Sequence[Any]) -> dict[str, Mapping[int, Any]]:
    """Load the objects that the items refer to, by field name, with one query for each field."""
    found: dict[str, Mapping[int, Any]] = {}
    for name, field in serializer.fields.items():
        if isinstance(field, Reference) and not field.read_only:
            given = [item.get(name) for item in items if isinstance(item, Mapping)]
            wanted = {each for each in given if isinstance(each, int) and not isinstance(each, bool) and 0 < each < 2**63}
            found[name] = field.get_queryset().in_bulk(list(wanted))  # type: ignore[union-attr]  # writable fields have one
    return found


def validate_items(serializer: ApiSerializer, items: Sequence[Any], rows: Sequence[Any] | None = None) -> list[dict[str, Any]]:
    """Return the items' validated data, or with `rows` the validated changes of each row. Raises ItemsRefused."""
    context: Any = serializer.context
    context["known"] = load_references(serializer, items)
    good, wrong = [], dict[int, Exception]()
    for index, item in enumerate(items):
        serializer.instance = rows[index] if rows else None
        try:
            good.append(serializer.run_validation(item))
        except (serializers.ValidationError, exceptions.ValidationError) as error:
            wrong[index] = error
    serializer.instance = None
    if wrong:
        raise ItemsRefused(wrong)
    return good


def apply_all_or_none[Item, Row](items: Sequence[Item], many: Callable[[Sequence[Item]], Row], one: Callable[[Item], object]) -> Row:
    """Return what `many` makes of all items. Raises ItemsRefused with the error that `one` raises for each item at fault."""
    try:
        with transaction.atomic():
            return many(items)
    except REFUSALS as error:
        with transaction.atomic():
            wrong = collect_refused_items(items, many, one)
            transaction.set_rollback(True)
        raise ItemsRefused(wrong) if wrong else error from error


def collect_refused_items[Item](
    items: Sequence[Item], many: Callable[[Sequence[Item]], object], one: Callable[[Item], object], first: int = 0
) -> dict[int, Exception]:
    """Return the errors of the items that are refused when they are written one after the other, by index from `first` on.

    Parts without such an item are written at once: one of 1,000 costs some forty writes.
    """
    wrong: dict[int, Exception] = {}
    size = ceil(len(items) / PARTS)
    for start in range(0, len(items), size):
        part = items[start : start + size]
        try:
            with transaction.atomic():
                one(part[0]) if len(part) == 1 else many(part)
        except REFUSALS as error:
            wrong |= {first + start: error} if len(part) == 1 else collect_refused_items(part, many, one, first + start)
    return wrong


def get_item_rows(items: Sequence[Any], find: Callable[[Iterable[int]], Mapping[int, Any]], *, only_ids: bool = False) -> list[Any]:
    """Return the row of each item, by its id. Raises ItemsRefused for unknown and repeated ids.

    only_ids: an item may contain only `id` and `version`.
    """
    ids: list[Any] = [item.get("id") if isinstance(item, Mapping) else item for item in items]
    good = [each for each in ids if isinstance(each, int) and not isinstance(each, bool) and 0 < each < 2**63]
    found, wrong, seen = find(good), dict[int, Exception](), set[int]()
    for index, pk in enumerate(ids):
        if not isinstance(pk, int) or isinstance(pk, bool):
            wrong[index] = serializers.ValidationError({"id": _("Give the id as a number.")})
        elif pk not in found:
            wrong[index] = serializers.ValidationError({"id": _("Nothing with this id, or no longer active.")})
        elif pk in seen:
            wrong[index] = serializers.ValidationError({"id": _("This id appears twice.")})
        elif more := _describe_extra_fields(items[index]) if only_ids else None:
            wrong[index] = serializers.ValidationError(more)
        else:
            seen.add(pk)
    if wrong:
        raise ItemsRefused(wrong)
    return [found[pk] for pk in ids]


def _describe_extra_fields(item: Any) -> dict[str, str]:
    names = item if isinstance(item, Mapping) else ()
    return {name: describe_unknown_field(str(name), ("id", "version")) for name in names if name not in ("id", "version")}


def check_versions(items: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> None:
    """Check the `version` that an item may contain. Raises ItemsRefused with 412 for outdated items."""
    late = {
        index: build_precondition_error()
        for index, (item, row) in enumerate(zip(items, rows, strict=True))
        if "version" in item and item["version"] != getattr(row, "version", None)
    }
    if late:
        raise ItemsRefused(dict(late))
