"""Serializer fields for addresses, prefixes and MAC addresses: text in JSON, `ipaddress` values (MAC addresses: text) in Python; and for
times.
"""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from rest_framework import serializers

from apps.lib.fields import AddressField, InterfaceAddressField, MacField, PrefixField


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
    """A time. REST framework's own field raises OverflowError for one without an offset that is none in UTC, as in the first hours of the
    year 1; this one refuses it.
    """

    def enforce_timezone(self, value: datetime) -> datetime:
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
