"""Describes rows that were read in different ways, for comparisons."""

from typing import Any, Final

from django.db.models import Model

PREFETCHED: Final = "_prefetched_objects_cache"


def describe_row(row: Any, path: tuple[Any, ...] = ()) -> Any:
    """Return the row's values with their types, and those of the rows that came with it, without the way back."""
    if not isinstance(row, Model):
        return [(type(value), value) for value in row] if isinstance(row, tuple) else row
    loaded = {name: describe_row(each, (*path, row)) for name, each in row._state.fields_cache.items() if each not in path}
    for name, rows in getattr(row, PREFETCHED, {}).items():
        loaded[name] = [describe_row(each, (*path, row)) for each in rows]
    return type(row), {name: (type(value), value) for name, value in vars(row).items() if name not in ("_state", PREFETCHED)}, loaded
