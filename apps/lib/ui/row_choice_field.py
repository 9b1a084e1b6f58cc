"""A choice among a few rows, which are read once for a page: Django's own reads them through a cursor each time the field is looked at."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.db.models import Model
from django.forms.models import ModelChoiceIterator


class _CachedChoiceIterator[Row: Model](ModelChoiceIterator[Row]):
    def __iter__(self) -> Iterator[tuple[Any, str]]:
        if self.field.empty_label is not None:
            yield "", str(self.field.empty_label)
        for row in self.queryset:  # keeps what it has read
            yield self.choice(row)

    def __bool__(self) -> bool:
        return self.field.empty_label is not None or bool(self.queryset)


class RowChoiceField[Row: Model](forms.ModelChoiceField[Row]):
    """A ModelChoiceField for what fits into a list."""

    iterator = _CachedChoiceIterator  # type: ignore[assignment]  # of the same rows
