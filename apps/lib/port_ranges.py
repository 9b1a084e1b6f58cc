"""Ports and port ranges as people write them."""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.lib.errors import Problem

_SPAN = re.compile(r"([0-9]{1,5})(?:\s*[-\u2013\u2014:]\s*([0-9]{1,5}))?")

type Span = tuple[int, int]


def format_port_range(first: int, count: int) -> str:
    """Return “8443”, or “6000–6009” for ten ports."""
    return str(first) if count == 1 else f"{first}\u2013{first + count - 1}"


def format_typed_span(first: int, count: int) -> str:
    """Return the same with a hyphen, as people type it: “6000-6009”."""
    return format_port_range(first, count).replace("\u2013", "-")


def parse_port_range(text: str) -> Span | None:
    """Return the first port and the number of ports of “8443”, “6000-6009”, “6000–6009” or “6000:6009”; None for anything else."""
    found = _SPAN.fullmatch(text.strip())
    if not found:
        return None
    first, last = int(found[1]), int(found[2] or found[1])
    return (first, last - first + 1) if 0 < first <= last < 65536 else None


def format_ports(ports: Iterable[int]) -> str:
    """Return these ports as people type them, in order: “25, 135-139”."""
    rows = [[port for _at, port in same] for _gap, same in groupby(enumerate(sorted(ports)), lambda each: each[1] - each[0])]
    return ", ".join(format_typed_span(row[0], len(row)) for row in rows)


def parse_ports(text: str, fieldname: str = "") -> list[int]:
    """Return all ports of “25, 135-139”, sorted. Raises Problem at the field for a part that is neither a port nor a range."""
    found: set[int] = set()
    for part in filter(None, (each.strip() for each in text.split(","))):
        span = parse_port_range(part)
        if span is None:
            raise Problem(_("“%(part)s” is neither a port nor a range. Write it like 25, 135-139.") % {"part": part[:40]}, fieldname)
        found.update(range(span[0], span[0] + span[1]))
    return sorted(found)


class PortRangeFormField(forms.CharField):
    """A port or a range of ports. The cleaned value is the first port and the number of ports."""

    default_error_messages = {"ports": _("“%(value)s” is neither a port nor a range. Write it like 8443 or 6000-6009, from 1 to 65535.")}

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"max_length": 20} | options))

    def prepare_value(self, value: Any) -> Any:
        return format_typed_span(*value) if isinstance(value, tuple) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        found = parse_port_range(str(text))
        if found is None:
            raise ValidationError(self.error_messages["ports"], code="ports", params={"value": text})
        return found


class PortsListField(forms.CharField):
    """Ports and ranges, separated by commas. The cleaned value is the sorted list of all ports."""

    def prepare_value(self, value: Any) -> Any:
        return format_ports(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        try:
            return parse_ports(super().clean(value))
        except Problem as problem:
            raise ValidationError(str(problem)) from problem
