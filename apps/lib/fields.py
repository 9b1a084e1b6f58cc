"""Model fields for addresses, prefixes, MAC addresses, transaction ids and snapshots.

PostgreSQL checks and stores them in its own types (inet, cidr, macaddr); addresses and prefixes are `ipaddress` values in Python.
"""

from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from string import hexdigits
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import TextField, Value
from django.db.models.functions import Cast, Replace
from django.utils.translation import gettext_lazy as _

from firewall.addresses import parse_prefix

if TYPE_CHECKING:
    Field = models.Field[Any, Any]
    AnyLookup = models.Lookup[Any]
else:
    Field, AnyLookup = models.Field, models.Lookup

Address = IPv4Address | IPv6Address
Prefix = IPv4Network | IPv6Network
AddressInNetwork = IPv4Interface | IPv6Interface


class _ParsedField(Field):
    """A column whose text form is parsed into a Python value."""

    column_type: str

    def db_type(self, connection: Any) -> str:
        return self.column_type

    def parse(self, text: str) -> object:
        """Return the value. Raises ValueError."""
        raise NotImplementedError(type(self))

    def from_db_value(self, value: str | None, expression: object, connection: object) -> object:
        return None if value is None else self.parse(value)

    def to_python(self, value: Any) -> Any:
        if value is None or not isinstance(value, str):
            return value
        try:
            return self.parse(value.strip())
        except ValueError as error:
            raise ValidationError(self.default_error_messages["invalid"], code="invalid", params={"value": value}) from error

    def get_prep_value(self, value: Any) -> str | None:
        value = self.to_python(value)
        return None if value is None else str(value)

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj) or "")

    def formfield(self, **kwargs: Any) -> forms.Field | None:
        return super().formfield(**{"form_class": forms.CharField, **kwargs})


# Texts of the database to addresses, which never change: a page of forwards parses the same few public addresses over and over.
# Bounded: 4,096 addresses take about 2 MB.
_parse_stored_address = lru_cache(4096)(ip_address)
_parse_stored_network = lru_cache(4096)(ip_network)


class AddressField(_ParsedField):
    """An IPv4 or IPv6 address of one host."""

    column_type = "inet"
    default_error_messages = {"invalid": _("“%(value)s” is not an IP address. Write it like 198.51.100.7 or 2001:db8::7.")}

    def parse(self, text: str) -> Address:
        if "%" in text:  # a zone (RFC 4007) is only meaningful on one host
            raise ValueError(text)
        return ip_address(text.removesuffix("/32").removesuffix("/128"))

    def from_db_value(self, value: str | None, expression: object, connection: object) -> object:
        return None if value is None else _parse_stored_address(value.removesuffix("/32").removesuffix("/128"))


class InterfaceAddressField(_ParsedField):
    """An address as an interface has it: with the prefix length of its network, and its host bits."""

    column_type = "inet"
    default_error_messages = {
        "invalid": _("“%(value)s” is not an address with a prefix length. Write it like 10.0.0.254/11 or 2001:db8:b0::fe/64.")
    }

    def parse(self, text: str) -> AddressInNetwork:
        address, _separator, length = text.partition("/")
        if "%" in address or not (length.isascii() and length.isdecimal()):  # no zone, as in AddressField; no netmask
            raise ValueError(text)
        return ip_interface(text)

    def from_db_value(self, value: str | None, expression: object, connection: object) -> object:
        return None if value is None else ip_interface(value)  # the database leaves out /32 and /128


class PrefixField(_ParsedField):
    """A network, or a single address as a prefix of full length. Host bits must be zero."""

    column_type = "cidr"
    default_error_messages = {
        "invalid": _("“%(value)s” is not an address or prefix. Write it like 203.0.113.66, 203.0.113.0/24 or 2001:db8::/32.")
    }

    def parse(self, text: str) -> Prefix:
        return parse_prefix(text)

    def from_db_value(self, value: str | None, expression: object, connection: object) -> object:
        return None if value is None else _parse_stored_network(value)  # the database has validated it


def extract_mac_digits(text: str) -> str:
    """Return the digits of a MAC address, or of a part of one, without separators: 00:00:5e, 00-00-5e and 0000.5e are equal."""
    return "".join(character for character in text.lower() if character not in ":-. ")


def make_mac_digits_expression(field: str) -> Replace:
    """Return an expression for the twelve digits of a MAC address column, for an index on parts of them."""
    return Replace(Cast(field, TextField()), Value(":"), Value(""), output_field=TextField())


class MacField(_ParsedField):
    """A MAC address as text: six octets in lower case with colons."""

    column_type = "macaddr"
    default_error_messages = {"invalid": _("“%(value)s” is not a MAC address. Write it like 00:00:5e:00:53:1f.")}

    def parse(self, text: str) -> str:
        digits = extract_mac_digits(text)
        if len(digits) != 12 or not all(digit in hexdigits for digit in digits):
            raise ValueError(text)
        return ":".join(f"{octet:02x}" for octet in bytes.fromhex(digits))


class TransactionIdField(Field):
    """Id of the transaction that last wrote the row (xid8). Set by the database."""

    def db_type(self, connection: Any) -> str:
        return "xid8"


class SnapshotField(Field):
    """The transactions that a reader saw (pg_snapshot). Compared by `pg_visible_in_snapshot(xid8, pg_snapshot)`."""

    def db_type(self, connection: Any) -> str:
        return "pg_snapshot"


class _NetworkLookup(AnyLookup):
    """Lookup by one of PostgreSQL's network operators (PostgreSQL manual, "Network Address Functions and Operators")."""

    operator: str

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} {self.operator} {right}::inet", (*left_params, *right_params)

    def get_prep_lookup(self) -> Any:
        return self.rhs if hasattr(self.rhs, "resolve_expression") else str(self.rhs)


@PrefixField.register_lookup
@AddressField.register_lookup
class WithinLookup(_NetworkLookup):
    """`prefix__within=network`: the column is inside the network or equal to it."""

    lookup_name, operator = "within", "<<="


@PrefixField.register_lookup
@AddressField.register_lookup
class CoversLookup(_NetworkLookup):
    """`prefix__covers=address`: the address or prefix is inside the column's prefix or equal to it."""

    lookup_name, operator = "covers", ">>="


@PrefixField.register_lookup
class CoversAllLookup(_NetworkLookup):
    """`prefix__covers_all=F("parts")`: the column's prefix contains every prefix of an array column, or is equal to it."""

    lookup_name = "covers_all"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} >>= ALL ({right})", (*left_params, *right_params)


@PrefixField.register_lookup
class OverlapsLookup(_NetworkLookup):
    """`prefix__overlaps=network`: one is inside the other."""

    lookup_name, operator = "overlaps", "&&"
