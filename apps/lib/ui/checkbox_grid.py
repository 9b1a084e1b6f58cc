"""Form widget: a grid of grouped checkboxes, with a row for each object and a column for each choice.

It works without JavaScript; with JavaScript, a box at the head of each column selects the column.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString


class CheckboxGrid(forms.CheckboxSelectMultiple):
    """Widget for a field with grouped choices. Without columns, a value is the name of a row.

    columns: key and word of each column; values are then "row:column". A row without one of these values has no box in that
    column.
    """

    def __init__(self, columns: Sequence[tuple[str, str | Promise]] = (), attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.columns = tuple(columns)

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        context = self.get_context(name, value, attrs)
        groups = [{"words": words, "rows": self._build_rows(options)} for words, options, _index in context["widget"]["optgroups"]]
        return SafeString(render_to_string("components/boxes.html", {**context, "groups": groups, "columns": self.columns}))

    def _build_rows(self, options: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a row for each object: its name, its words, and its boxes, with None for a missing box."""
        rows = []
        for thing, boxes in groupby(options, lambda option: str(option["value"]).partition(":")[0]):
            found = {str(box["value"]).partition(":")[2]: box for box in boxes}
            words = next(iter(found.values()))["label"]
            rows.append({"name": thing, "words": words, "boxes": [found.get(what) for what, _word in self.columns or (("", ""),)]})
        return rows
