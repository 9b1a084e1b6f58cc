"""Types of filter values: how they are parsed, and which lookups they allow. Parsers return a value or raise ValueError with a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _

from apps.lib.fields import AddressField, MacField, PrefixField
from firewall.addresses import parse_prefix

LARGEST: Final = 2**63 - 1
LONGEST: Final = 200  # characters of one value
MOST_VALUES: Final = 1000  # in one __in lookup

EXACT, IN, LESS, AT_MOST, MORE, AT_LEAST = "", "in", "lt", "lte", "gt", "gte"
CONTAINS, NET_CONTAINS, NET_WITHIN, NULL = "contains", "net_contains", "net_within", "isnull"
IN_DATABASE: Final = {EXACT: "exact", CONTAINS: "icontains", NET_CONTAINS: "covers", NET_WITHIN: "within"}
"""The ORM's names of lookups, where they differ."""
_ORDERED: Final = (EXACT, IN, LESS, AT_MOST, MORE, AT_LEAST)


@dataclass(frozen=True)
class FilterType:
    """`read` parses text such as `example`; `schema` is the type in OpenAPI; `lookups` are the allowed lookups."""

    read: Callable[[str], Any]
    schema: Mapping[str, Any]
    lookups: tuple[str, ...]
    example: str


def _parse_number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= LARGEST):
        raise ValueError(_("“%(text)s” is not a number.") % {"text": text})
    return int(text)


def _parse_text(text: str) -> str:
    if "\0" in text:
        raise ValueError(_("A text must not contain NUL."))
    return text


def _parse_bool(text: str) -> bool:
    if text not in ("0", "1", "true", "false"):
        raise ValueError(_("“%(text)s” is neither true nor false.") % {"text": text})
    return text in ("1", "true")


def _parse_network(text: str) -> Any:
    try:
        return parse_prefix(text, strict=False)
    except ValueError as error:
        raise ValueError(_("“%(text)s” is not an address or prefix.") % {"text": text}) from error


def _parse_mac(text: str) -> str:
    try:
        return str(MacField().parse(text))
    except ValueError as error:
        raise ValueError(_("“%(text)s” is not a MAC address.") % {"text": text}) from error


def _parse_timestamp(text: str) -> datetime:
    """Parse RFC 3339. A plus sign that URL decoding turned into a space is restored."""
    try:
        found = parse_datetime(text.replace(" ", "+"))
        known = found.astimezone(UTC) if found and found.tzinfo else None  # PostgreSQL accepts no offset beyond 15:59:59
    except (ValueError, OverflowError):
        known = None
    if known is None:
        raise ValueError(_("“%(text)s” is not a time with a UTC offset, like 2026-11-21T18:00:00+01:00.") % {"text": text})
    return known


def _parse_day(text: str) -> date:
    try:
        found = parse_date(text)
    except ValueError:
        found = None
    if found is None:
        raise ValueError(_("“%(text)s” is not a date, like 2026-11-21.") % {"text": text})
    return found


NUMBER: Final = FilterType(_parse_number, {"type": "integer"}, _ORDERED, "1")
TEXT: Final = FilterType(_parse_text, {"type": "string"}, (EXACT, IN, CONTAINS), "words")
TRUTH: Final = FilterType(_parse_bool, {"type": "boolean"}, (EXACT,), "true")
NETWORK: Final = FilterType(_parse_network, {"type": "string"}, (EXACT, IN, NET_CONTAINS, NET_WITHIN), "192.0.2.0/24")
MAC: Final = FilterType(_parse_mac, {"type": "string"}, (EXACT, IN), "00:00:5e:00:53:1f")
MOMENT: Final = FilterType(_parse_timestamp, {"type": "string", "format": "date-time"}, _ORDERED, "2026-11-21T18:00:00Z")
DAY: Final = FilterType(_parse_day, {"type": "string", "format": "date"}, _ORDERED, "2026-11-21")


def build_choice_type(values: tuple[str, ...]) -> FilterType:
    """Return a type that accepts only these words."""

    def read(text: str) -> str:
        if text not in values:
            raise ValueError(_("“%(text)s” is not one of: %(values)s.") % {"text": text, "values": ", ".join(values)})
        return text

    return FilterType(read, {"type": "string", "enum": list(values)}, (EXACT, IN), values[0])


def get_filter_type(column: models.Field[Any, Any]) -> FilterType:
    """Return the filter type for a model field. Raises TypeError if there is none."""
    if column.choices:
        return build_choice_type(tuple(str(value) for value, _label in column.flatchoices))
    kinds: tuple[tuple[Any, FilterType], ...] = (
        ((AddressField, PrefixField), NETWORK),
        (MacField, MAC),
        (models.BooleanField, TRUTH),
        (models.DateTimeField, MOMENT),
        (models.DateField, DAY),
        ((models.IntegerField, models.ForeignKey, models.AutoField), NUMBER),
        ((models.CharField, models.TextField), TEXT),
    )
    found = next((kind for columns, kind in kinds if isinstance(column, columns)), None)
    if found is None or isinstance(column, ArrayField):
        raise TypeError(f"{column} cannot be filtered by")
    return found
