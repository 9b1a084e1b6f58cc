"""Form fields of several addresses or networks, one per line. Each is parsed as the column that stores it does."""

from typing import Any, ClassVar

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import AddressField, InterfaceAddressField, PrefixField


class ParsedLines(forms.CharField):
    """Values of `column`, one per line or separated by commas. refusal: what is said of a line that the column does not take."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "nw-mono"})
    column: ClassVar[AddressField | InterfaceAddressField | PrefixField]
    refusal: ClassVar[Promise]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[Any]:
        return [self._parse(line.strip()) for line in super().clean(value).replace(",", "\n").splitlines() if line.strip()]

    def _parse(self, line: str) -> Any:
        try:
            return self.column.parse(line)
        except ValueError as error:
            raise forms.ValidationError(str(self.refusal) % {"value": line[:60]}) from error


class PrefixLines(ParsedLines):
    """Networks, one per line."""

    column = PrefixField()
    refusal = _("“%(value)s” is not a network. Write it like 172.31.0.0/24 or 2001:db8:f::/64, with all host bits zero.")


class AddressLines(ParsedLines):
    """Addresses, one per line."""

    column = AddressField()
    refusal = _("“%(value)s” is not an address. Write it like 192.0.2.1 or 2001:db8::1.")


class InterfaceAddressLines(ParsedLines):
    """Addresses with prefix lengths, one per line."""

    column = InterfaceAddressField()
    refusal = _("“%(value)s” is not an address with a prefix length. Write it like 10.0.0.254/11 or 2001:db8:b0::fe/64.")
