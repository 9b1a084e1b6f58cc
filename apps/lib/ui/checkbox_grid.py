"""Many things to choose from as boxes in groups: a row for each thing, and in it a box for each of what may be chosen of it.

Works without JavaScript; with it, a box at the head of each column picks the column.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString


class CheckboxGrid(forms.CheckboxSelectMultiple):
    """For a field whose choices stand in groups. Without columns a value is a thing.

    columns: (what, word) of each, and values are "thing:what"; a thing without one of them has no box there.
    """

    def __init__(self, columns: Sequence[tuple[str, str | Promise]] = (), attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.columns = tuple(columns)

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        context = self.get_context(name, value, attrs)
        groups = [{"words": words, "rows": self._rows(options)} for words, options, _index in context["widget"]["optgroups"]]
        return SafeString(render_to_string("components/boxes.html", {**context, "groups": groups, "columns": self.columns}))

    def _rows(self, options: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """A row for each thing: its name, its words, and its boxes, None where a column has none."""
        rows = []
        for thing, boxes in groupby(options, lambda option: str(option["value"]).partition(":")[0]):
            found = {str(box["value"]).partition(":")[2]: box for box in boxes}
            words = next(iter(found.values()))["label"]
            rows.append({"name": thing, "words": words, "boxes": [found.get(what) for what, _word in self.columns or (("", ""),)]})
        return rows
