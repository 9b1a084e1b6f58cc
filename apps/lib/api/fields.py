"""Serializer fields for addresses, prefixes and MAC addresses: text in JSON, `ipaddress` values (MAC addresses: text) in Python; and for
times.
"""

from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from apps.lib.fields import AddressField, InterfaceAddressField, MacField, PrefixField
from apps.lib.local_time import list_meanings


class _ParsedTextField(serializers.CharField):
    """Text that is parsed by a model field."""

    column: Any
    LONGEST = 80

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if len(text) > self.LONGEST:
            raise serializers.ValidationError(self.column.default_error_messages["invalid"] % {"value": text[: self.LONGEST]})
        try:
            return self.column.to_python(text)
        except ValidationError as error:
            raise serializers.ValidationError(error.messages) from error


class MomentField(serializers.DateTimeField):
    """A time. One without an offset is local to the portal, and refused if the clock shows it twice or never: REST framework's own field
    takes the earlier of two times. That field also raises OverflowError for a time that is none in UTC, as in the first hours of the
    year 1; this one refuses it.
    """

    default_error_messages = {
        "make_aware": _("The clock in {timezone} shows this time twice, or never. Send it with its offset, like 2026-10-25T02:30:00+01:00.")
    }

    def to_internal_value(self, value: Any) -> datetime:
        """Return the time in UTC: Python compares two times of one zone by what its clock shows."""
        return super().to_internal_value(value).astimezone(UTC)

    def enforce_timezone(self, value: datetime) -> datetime:
        zone = timezone.get_current_timezone()
        if timezone.is_naive(value) and len(list_meanings(value, zone)) != 1:
            self.fail("make_aware", timezone=zone)
        try:
            return super().enforce_timezone(value)
        except OverflowError:
            self.fail("overflow")


class AddressText(_ParsedTextField):
    """An IP address."""

    column = AddressField()


class PrefixText(_ParsedTextField):
    """A network, or a single address."""

    column = PrefixField()


class InterfaceAddressText(_ParsedTextField):
    """An address with the prefix length of its network, as an interface has it."""

    column = InterfaceAddressField()


class MacText(_ParsedTextField):
    """A MAC address."""

    column = MacField()
