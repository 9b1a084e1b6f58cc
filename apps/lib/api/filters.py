"""Filters and ordering of lists, from query parameters.

Parameters that the view does not declare, and invalid values, are refused by name: a script with a typo must not get all rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import models
from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from apps.lib.api.filter_types import EXACT, IN, IN_DATABASE, LONGEST, MOMENT, MOST_VALUES, NULL, TRUTH, FilterType, get_filter_type

OWN: Final = frozenset({"limit", "offset", "cursor", "ordering", "fields", "brief", "format"})
"""Parameters that every list accepts."""
type FilteredRows = models.QuerySet[Any]


@dataclass(frozen=True)
class Filter:
    """Filter on a column. `path`: the column's ORM path. `exact`: the lookup of the plain parameter, if it is not equality."""

    path: str
    kind: FilterType
    null: bool = False
    exact: str = EXACT

    @property
    def lookups(self) -> tuple[str, ...]:
        return (*self.kind.lookups, NULL) if self.null else self.kind.lookups

    def apply_to(self, rows: FilteredRows, lookup: str, text: str) -> FilteredRows:
        """Return the filtered rows. Raises ValueError for an invalid value."""
        name = self.exact if lookup == EXACT and self.exact else lookup
        value: Any = _parse_values(text, self.kind) if lookup == IN else (TRUTH if lookup == NULL else self.kind).read(_check_length(text))
        return rows.filter(**{f"{self.path}__{IN_DATABASE.get(name, name)}": value})


@dataclass(frozen=True)
class CustomFilter:
    """Filter with a meaning of its own. `apply` gets rows and value; None if the view's get_queryset reads the parameter itself.

    words: its description for the documentation. also: the column that its lookups and the ordering use, if there is one.
    """

    kind: FilterType
    apply: Callable[[FilteredRows, Any], FilteredRows] | None
    words: str
    also: "Filter | None" = None

    def apply_to(self, rows: FilteredRows, text: str) -> FilteredRows:
        value = self.kind.read(_check_length(text))
        return self.apply(rows, value) if self.apply else rows


type Filters = Mapping[str, Filter | CustomFilter]


def build_filters(model: type[models.Model], *names: str, **paths: str) -> dict[str, Filter | CustomFilter]:
    """Return filters for these columns, under their own or another name.

    `build_filters(PortForward, "protocol", member="holding__member")`.
    """
    named = {name: name for name in ("id", *names)} | paths
    return {name: _build_filter(model, path) for name, path in named.items()}


def _build_filter(model: type[models.Model], path: str) -> Filter:
    *way, last = path.split("__")
    for step in way:
        column: Any = model._meta.get_field(step)
        if column.related_model is None:  # a bound of a range
            return Filter(path, MOMENT, null=True)
        model = column.related_model
    column = model._meta.pk if last == "id" else model._meta.get_field(last)
    if isinstance(column, models.ForeignKey) and last != "id":  # by its id, as it is shown: its model may have an order of its own
        path = f"{path}_id"
    return Filter(path, get_filter_type(column), null=column.null)


def _check_length(text: str) -> str:
    if len(text) > LONGEST:
        raise ValueError(_("This is longer than %(most)d characters.") % {"most": LONGEST})
    return text


def _parse_values(text: str, kind: FilterType) -> list[Any]:
    given = text.split(",")
    if len(given) > MOST_VALUES:
        raise ValueError(_("These are more than %(most)d values.") % {"most": MOST_VALUES})
    return [kind.read(_check_length(each.strip())) for each in given]


class DeclaredFilterBackend(BaseFilterBackend):
    """Filters and orders lists by the `filters` that the view declares, within the token's scope."""

    def filter_queryset(self, request: Request, queryset: FilteredRows, view: Any) -> FilteredRows:
        queryset = view.limit_to_scope(queryset)
        if view.detail:
            return queryset
        for name, text in request.query_params.dict().items():
            if name not in OWN:
                queryset = self._apply_filter(queryset, view.filters, name, text)
        return apply_ordering(queryset, view.filters, request.query_params.get("ordering", ""))

    def _apply_filter(self, rows: FilteredRows, filters: Filters, name: str, text: str) -> FilteredRows:
        plain, _sep, lookup = name.rpartition("__")
        own = filters.get(name)
        found = find_column_filter(filters, plain) if own is None else own
        if found is None:
            raise build_unknown_error(name, sorted(filters))
        try:
            if isinstance(found, CustomFilter):
                return found.apply_to(rows, text)
            asked = lookup if own is None else EXACT
            if asked not in found.lookups:
                raise build_unknown_error(name, [f"{plain}__{each}" if each else plain for each in found.lookups])
            return found.apply_to(rows, asked, text)
        except ValueError as error:
            raise ValidationError({f"?{name}": str(error)}) from error


def refuse_repeated(params: QueryDict, filters: Filters) -> None:
    """Raise ValidationError for a parameter that occurs more than once: all its values but the last would be dropped."""
    for name, values in params.lists():
        if len(values) > 1:
            found = find_column_filter(filters, name)
            words = _("“%(name)s” is given %(n)d times. Give it once.")
            if found and IN in found.lookups:
                words = _("“%(name)s” is given %(n)d times. Give it once, and several values in “%(name)s__in”, with commas.")
            raise ValidationError({f"?{name[:LONGEST]}": words % {"name": name[:LONGEST], "n": len(values)}})


def build_unknown_error(name: str, known: list[str], parameter: str = "") -> ValidationError:
    """Return the error for an unknown parameter, or for an unknown name in a parameter."""
    facts = {"name": name[:LONGEST], "known": ", ".join(known)}
    return ValidationError({f"?{parameter or name[:LONGEST]}": _("“%(name)s” is unknown. Known: %(known)s.") % facts})


def find_column_filter(filters: Filters, name: str) -> Filter | None:
    """Return the column filter that the lookups and the ordering of this name use, or None."""
    found = filters.get(name)
    return found.also if isinstance(found, CustomFilter) else found


def list_orderings(filters: Filters) -> list[str]:
    """Return the names by which a list can be ordered."""
    return [name for name in filters if find_column_filter(filters, name)]


def apply_ordering(rows: FilteredRows, filters: Filters, asked: str) -> FilteredRows:
    """Return the rows in the requested order. The id breaks ties, so that no row appears on two pages."""
    if not asked:
        return rows
    return rows.order_by(*_iter_order_columns(filters, asked), "pk")


def _iter_order_columns(filters: Filters, asked: str) -> Iterator[str]:
    for name in asked.split(","):
        bare = name.strip().removeprefix("-")
        found = find_column_filter(filters, bare)
        if found is None:
            known = ", ".join(list_orderings(filters))
            text = _("Cannot order by “%(name)s”. Choose one of: %(known)s.")
            raise ValidationError({"?ordering": text % {"name": bare[:LONGEST], "known": known}})
        yield f"-{found.path}" if name.strip().startswith("-") else found.path
