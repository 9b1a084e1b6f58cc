"""Choice field that reads its rows once per page. Django's own reads them through a cursor each time the field is iterated."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.db.models import Model
from django.forms.models import ModelChoiceIterator


class _CachedChoiceIterator[Row: Model](ModelChoiceIterator[Row]):
    def __iter__(self) -> Iterator[tuple[Any, str]]:
        if self.field.empty_label is not None:
            yield "", str(self.field.empty_label)
        for row in self.queryset:  # the query set caches its rows
            yield self.choice(row)

    def __bool__(self) -> bool:
        return self.field.empty_label is not None or bool(self.queryset)


class CachedModelChoiceField[Row: Model](forms.ModelChoiceField[Row]):
    """A ModelChoiceField for few rows."""

    iterator = _CachedChoiceIterator  # type: ignore[assignment]  # it iterates the same rows
