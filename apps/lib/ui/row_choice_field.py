"""Choice field that reads its rows once per page. Django's own reads them through a cursor each time the field is iterated."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.db.models import Model, QuerySet
from django.forms.models import ModelChoiceIterator


class _CachedChoiceIterator[Row: Model](ModelChoiceIterator[Row]):
    def __iter__(self) -> Iterator[tuple[Any, str]]:
        if self.field.empty_label is not None:
            yield "", str(self.field.empty_label)
        for row in self._get_rows():
            yield self.choice(row)

    def __bool__(self) -> bool:
        return self.field.empty_label is not None or bool(self._get_rows())

    def _get_rows(self) -> Sequence[Row] | QuerySet[Row]:
        rows: Sequence[Row] | None = getattr(self.field, "rows", None)
        return self.queryset if rows is None else rows  # the query set caches its rows


class CachedModelChoiceField[Row: Model](forms.ModelChoiceField[Row]):
    """A ModelChoiceField for few rows. rows: what the page has read already of the field's query set, None for nothing."""

    rows: Sequence[Row] | None = None
    iterator = _CachedChoiceIterator  # type: ignore[assignment]  # it iterates the same rows
