"""Keyset pagination: a page begins after the last row of the previous one, without OFFSET, so page 4,000 is as fast as the first."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Model, Q, QuerySet

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class KeysetOrder:
    """Order of a list. columns: as for `order_by`, of date and time or integers, the last one unique."""

    columns: tuple[str, ...]

    def make_token(self, row: Model) -> str:
        """Return the position of this row, for the URL of the next page."""
        values = (getattr(row, column.removeprefix("-")) for column in self.columns)
        return "_".join(str((value - EPOCH) // MICROSECOND if isinstance(value, datetime) else value) for value in values)

    def filter_after[Row: Model](self, rows: QuerySet[Row], token: str) -> QuerySet[Row]:
        """Return the rows after the token's position, in this order; all rows where the token is not valid."""
        ordered, place = rows.order_by(*self.columns), self._parse_place(rows.model, token)
        if place is None:
            return ordered
        behind, same = Q(), Q()
        for column, value in zip(self.columns, place, strict=True):
            name, way = column.removeprefix("-"), "lt" if column.startswith("-") else "gt"
            behind |= same & Q(**{f"{name}__{way}": value})
            same &= Q(**{name: value})
        first, way = self.columns[0].removeprefix("-"), "lte" if self.columns[0].startswith("-") else "gte"
        return ordered.filter(Q(**{f"{first}__{way}": place[0]}), behind)  # the index scan starts at the first condition

    def _parse_place(self, model: type[Model], token: str) -> list[Any] | None:
        parts = token.split("_")
        if len(parts) != len(self.columns) or not all(part.isascii() and part.isdigit() and len(part) < 18 for part in parts):
            return None
        kinds = (model._meta.get_field(column.removeprefix("-")).get_internal_type() for column in self.columns)
        return [_parse_moment(int(part)) if kind == "DateTimeField" else int(part) for part, kind in zip(parts, kinds, strict=True)]


def _parse_moment(microseconds: int) -> datetime:
    return EPOCH + MICROSECOND * min(microseconds, 10**17)
