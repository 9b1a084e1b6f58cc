"""Checks the fields of a request: unknown fields and fields that cannot be set are refused by name, never silently dropped.

A client may read an object, change one field and send the whole back: a read-only field is accepted with its current value.
Fields that the portal observes, such as `active`, may have changed since they were read; they are not compared when an existing
object is changed.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, ClassVar, Final

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.utils.encoders import JSONEncoder

from apps.lib.visible_text import refuse_invisible_characters

LONGEST_NAME: Final = 60
LINES: Final = {"base_template": "textarea.html"}
"""Style of a text field with several lines; REST framework sets it by itself for a TextField."""
VERSION: Final = "version"
PLAIN: Final = (str, int, type(None))
"""Types of values that JSON leaves as they are."""


def describe_unknown_field(name: str, known: Iterable[str]) -> str:
    """Return the sentence that refuses an unknown field."""
    names, short = list(known), name[:LONGEST_NAME]
    close = get_close_matches(short, names, 1)
    if close:
        return _("Unknown field “%(name)s”. Did you mean “%(close)s”?") % {"name": short, "close": close[0]}
    if not names:
        return _("Unknown field “%(name)s”: this request takes no fields.") % {"name": short}
    return _("Unknown field “%(name)s”. Known fields: %(known)s.") % {"name": short, "known": ", ".join(names)}


def refuse_unknown(data: Any, known: Iterable[str]) -> None:
    """Raise ValidationError for the fields of an object that are not known."""
    names = list(known)
    if isinstance(data, Mapping) and (wrong := [name for name in data if name not in names]):
        raise serializers.ValidationError({name: describe_unknown_field(str(name), names) for name in wrong})


class StrictSerializer(serializers.Serializer[Any]):
    """A serializer that refuses, by name, fields that it does not know or cannot set."""

    fixed_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields that can be set only when the object is created."""
    observed_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields that the portal observes, and that change without a change of the object."""
    renamed_fields: ClassVar[Mapping[str, str]] = {}
    """Former names of fields, with their present names."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for field in fields.values():
            text: Any = getattr(field, "child", field)
            if isinstance(text, serializers.CharField) and not field.read_only:
                text.validators = [*text.validators, _VisibleTextValidator(lines=text.style.get("base_template") == LINES["base_template"])]
        return fields

    def to_internal_value(self, data: Any) -> Any:
        wrong = dict(self._iter_refusals(data)) if isinstance(data, Mapping) else {}
        try:
            taken = super().to_internal_value(data)
        except serializers.ValidationError as error:
            if not wrong or not isinstance(error.detail, dict):
                raise
            raise serializers.ValidationError({**error.detail, **wrong}) from error
        if wrong:
            raise serializers.ValidationError(wrong)
        return taken

    def _iter_refusals(self, data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        for name in data:
            field = self.fields.get(name)
            if field is None:
                yield name, self._describe_unknown(str(name))
            elif self.instance is None:
                if field.read_only or name == VERSION:
                    yield name, _("“%(name)s” is set by the portal. Leave it out.") % {"name": name}
            elif self._is_fixed(name, field) and not is_same_value(data[name], self.represent_fields(self.instance, (name,))[name]):
                yield name, _("“%(name)s” cannot be changed. Send it as it is, or leave it out.") % {"name": name}

    def _is_fixed(self, name: str, field: serializers.Field[Any, Any, Any, Any]) -> bool:
        """True if an existing object keeps the field's value, whatever is requested."""
        return (field.read_only or name in self.fixed_fields) and name not in self._all_observed_fields

    def _describe_unknown(self, name: str) -> str:
        if new := self.renamed_fields.get(name):
            return _("Use “%(new)s” instead of “%(name)s”.") % {"name": name, "new": new}
        return describe_unknown_field(name, [known for known, field in self.fields.items() if not field.read_only])

    @cached_property
    def _all_observed_fields(self) -> frozenset[str]:
        return self._collect_declared("observed_fields")

    def _collect_declared(self, of: str) -> frozenset[str]:
        """Return the union of what the serializer and its base classes declare."""
        return frozenset().union(*(vars(each).get(of, ()) for each in type(self).__mro__))

    def represent_fields(self, row: Any, names: Collection[str]) -> Mapping[str, Any]:
        """Return at least these of the fields that the row shows."""
        return dict(self.to_representation(row))

    def changes_nothing(self, row: Any, data: Any, taken: Mapping[str, Any]) -> bool:
        """True if the row already has the requested values. data: the request body. taken: its validated form.

        A value that is never shown counts as a change.
        """
        if not isinstance(data, Mapping):
            return False
        fields = {name: field for name, field in self.fields.items() if not field.read_only}
        given = {name: value for name, value in data.items() if name in fields}
        if any(fields[name].write_only for name in given):
            return False
        shown = self.represent_fields(row, given)
        sent = all(is_same_value(value, shown[name]) for name, value in given.items())
        defaults = (field for name, field in fields.items() if name not in data and field.source in taken)
        return sent and all(taken[str(field.source)] == field.get_attribute(row) for field in defaults)


class _VisibleTextValidator:
    """`refuse_invisible_characters` as a field validator."""

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines

    def __call__(self, text: str) -> None:
        refuse_invisible_characters(str(text), lines=self._lines)


def is_same_value(given: Any, shown: Any) -> bool:
    """True if a value in the request equals the one shown. Times are compared as times."""
    plain = shown if isinstance(shown, PLAIN) else json.loads(json.dumps(shown, cls=JSONEncoder))
    if given == plain and isinstance(given, bool) == isinstance(plain, bool):
        return True
    if not (isinstance(given, str) and isinstance(plain, str)):
        return False
    try:
        moments = parse_datetime(given), parse_datetime(plain)
    except ValueError:
        return False
    return None not in moments and all(each and each.tzinfo for each in moments) and moments[0] == moments[1]
