"""Kinds of settings: each declares its name, default, bounds and words, and knows its column, its constraint and its text form.

In: values of forms, of the API and of the command line. Out: values that the database accepts, or a Problem at the setting's name.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import BooleanField, CheckConstraint, F, Func, Q
from django.db.models.expressions import Combinable
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from apps.lib.errors import Problem
from apps.lib.port_ranges import format_ports, parse_ports
from apps.lib.ui import formats

PREFIX: Final = "NETZWART_"  # of variables; the rest is the name in portal/settings.py
ALL_PORTS: Final = "1 <= ALL(%(expressions)s) AND 65535 >= ALL(%(expressions)s) AND cardinality(%(expressions)s) <= 2000"
MOST_PORTS: Final = 2000


class SettingSection(models.TextChoices):
    """Sections of the page, in their order."""

    NETWORK = "network", gettext_lazy("The network")
    PORTS = "ports", gettext_lazy("Ports that members open")
    MEMBERS = "members", gettext_lazy("Members")
    RETENTION = "retention", gettext_lazy("How long things are kept")
    PORTAL = "portal", gettext_lazy("The portal itself")


@dataclass(frozen=True)
class SettingUnit:
    """A unit. `word`: beside a field, "" if its label names the unit; `counted`: after a number, “1 day” or “30 days”."""

    word: str | Promise
    counted: Any

    def format(self, number: int) -> str:
        return str(self.counted % {"number": number, "count": formats.format_number(number)})


DAYS: Final = SettingUnit(gettext_lazy("days"), ngettext_lazy("%(count)s day", "%(count)s days", "number"))
HOURS: Final = SettingUnit(gettext_lazy("hours"), ngettext_lazy("%(count)s hour", "%(count)s hours", "number"))
PORTS: Final = SettingUnit(gettext_lazy("ports"), ngettext_lazy("%(count)s port", "%(count)s ports", "number"))
MINUTES: Final = SettingUnit(gettext_lazy("minutes"), ngettext_lazy("%(count)s minute", "%(count)s minutes", "number"))
MESSAGES: Final = SettingUnit("", ngettext_lazy("%(count)s message", "%(count)s messages", "number"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting[Value](ABC):
    """A setting. `name`: its column; `default`: without an environment variable; `variable`: the environment variable of the default."""

    name: str
    section: SettingSection
    label: Any  # translated when it is shown
    help: str | Promise
    default: Value
    variable: str = ""

    def get_default(self) -> Value:
        """Return the value that applies while nobody has changed the setting."""
        value: Value = getattr(settings, self.variable.removeprefix(PREFIX)) if self.variable else self.default
        return value

    def is_default_from_environment(self) -> bool:
        return bool(os.environ.get(self.variable, "").strip())

    @abstractmethod
    def build_column(self) -> models.Field[Any, Any]:
        """Return the column; NULL is the default."""

    def build_constraint(self) -> CheckConstraint:
        unset = Q(**{f"{self.name}__isnull": True})
        return CheckConstraint(condition=unset | Q(self._build_condition()), name=f"networksettings_{self.name}")

    @abstractmethod
    def _build_condition(self) -> Q | Combinable:
        """Return the condition that the database demands of a value."""

    @abstractmethod
    def clean(self, value: Value) -> Value:
        """Return the value as it is stored. Raises Problem for one that is out of bounds."""

    @abstractmethod
    def parse(self, text: str) -> Value:
        """Return the value of this text. Raises Problem for one that is none."""

    def format(self, value: Value) -> str:
        """Return the value as people read it, with its unit."""
        return str(value)


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberSetting(Setting[int]):
    """A whole number from `least` to `most`."""

    least: int
    most: int
    unit: SettingUnit | None = None

    def format(self, value: int) -> str:
        return self.unit.format(value) if self.unit else str(value)

    def build_column(self) -> models.Field[Any, Any]:
        return models.PositiveIntegerField(self.label, null=True, blank=True)

    def _build_condition(self) -> Q:
        return Q(**{f"{self.name}__range": (self.least, self.most)})

    def clean(self, value: int) -> int:
        if not self.least <= value <= self.most:
            facts = {"least": self.least, "most": self.most}
            raise Problem(_("Choose a number from %(least)d to %(most)d.") % facts, self.name)
        return value

    def parse(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text.strip()):
            facts = {"text": text[:40], "least": self.least, "most": self.most}
            raise Problem(_("“%(text)s” is not a number from %(least)d to %(most)d.") % facts, self.name)
        return int(text)


@dataclass(frozen=True, kw_only=True, eq=False)
class TextSetting(Setting[str]):
    """A line of text of at most `longest` characters; empty only if it is not `required`."""

    longest: int
    required: bool = True

    def build_column(self) -> models.Field[Any, Any]:
        return models.CharField(self.label, max_length=self.longest, null=True, blank=True)

    def _build_condition(self) -> Q:
        line = r"^[^[:space:][:cntrl:]]([^[:cntrl:]]*[^[:space:][:cntrl:]])?$"
        return Q(**{f"{self.name}__regex": line}) | (Q() if self.required else Q(**{self.name: ""}))

    def clean(self, value: str) -> str:
        line = " ".join(value.split())
        if self.required and not line:
            raise Problem(_("Enter a text."), self.name)
        if len(line) > self.longest:
            facts = {"longest": self.longest, "length": len(line)}
            raise Problem(_("Use at most %(longest)d characters; these are %(length)d.") % facts, self.name)
        if not line.isprintable():
            raise Problem(_("Use only characters that can be seen."), self.name)
        return line

    def parse(self, text: str) -> str:
        return text


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceSetting(Setting[str]):
    """One of several values, each with its name."""

    choices: Sequence[tuple[str, str | Promise]]

    def build_column(self) -> models.Field[Any, Any]:
        longest = max(len(value) for value, _name in self.choices)
        return models.CharField(self.label, max_length=longest, choices=list(self.choices), null=True, blank=True)

    def _build_condition(self) -> Q:
        return Q(**{f"{self.name}__in": [value for value, _name in self.choices]})

    def clean(self, value: str) -> str:
        values = [each for each, _name in self.choices]
        if value not in values:
            raise Problem(_("“%(text)s” is none of %(values)s.") % {"text": value[:40], "values": ", ".join(values)}, self.name)
        return value

    def parse(self, text: str) -> str:
        return text.strip()

    def format(self, value: str) -> str:
        return str(dict(self.choices).get(value, value))


@dataclass(frozen=True, kw_only=True, eq=False)
class PortsSetting(Setting[list[int]]):
    """A set of ports, in order."""

    def build_column(self) -> models.Field[Any, Any]:
        return ArrayField(models.PositiveIntegerField(), verbose_name=self.label, null=True, blank=True)

    def _build_condition(self) -> Combinable:
        return Func(F(self.name), template=ALL_PORTS, output_field=BooleanField())

    def clean(self, value: list[int]) -> list[int]:
        ports = sorted(set(value))
        if any(not 1 <= port <= 65535 for port in ports):
            raise Problem(_("A port is a number from 1 to 65535."), self.name)
        if len(ports) > MOST_PORTS:
            raise Problem(_("More than %(most)d forbidden ports: raise the lowest port instead.") % {"most": MOST_PORTS}, self.name)
        return ports

    def parse(self, text: str) -> list[int]:
        return parse_ports(text, self.name)

    def format(self, value: list[int]) -> str:
        return format_ports(value) or _("none")
