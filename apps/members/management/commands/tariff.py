"""manage.py tariff: adds, lists, changes and removes tariffs."""

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from dataclasses import fields
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError

from apps.lib.errors import Problem
from apps.members import tariff_services
from apps.members.models import Tariff
from apps.members.selectors import list_tariffs
from apps.members.tariff_services import TariffTerms

NO_LIMIT = "none"
MOST = 1000  # forwards or devices, as in the form


class Command(BaseCommand):
    help = "Tariffs: add, list, change, remove one that no member has or had."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="add | list | change | remove")
        add = what.add_parser("add", help="add a tariff")
        add.add_argument("name")
        _define_terms(add)
        what.add_parser("list", help="list all tariffs with their numbers of members")
        change = what.add_parser("change", help="change a tariff for all who have it; what is not given stays")
        change.add_argument("name")
        change.add_argument("--new-name", metavar="NAME")
        _define_terms(change)
        what.add_parser("remove", help="remove a tariff that no member has or had").add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with pghistory.context(cause=f"tariff {options['what']}"):
                getattr(self, f"_{options['what']}")(options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _add(self, options: dict[str, Any]) -> None:
        made = tariff_services.add_tariff(terms=TariffTerms(options["name"], **_read_terms(options)), by=None)
        self.stdout.write(_describe(made))

    def _list(self, _options: dict[str, Any]) -> None:
        rows = list(list_tariffs())
        for row in rows:
            self.stdout.write(f"{_describe(row)}  members {row.number}")  # type: ignore[attr-defined]  # annotated
        if not rows:
            self.stdout.write("No tariff yet. Add one with “manage.py tariff add”.")

    def _change(self, options: dict[str, Any]) -> None:
        tariff = _get_tariff(options["name"])
        now = {each.name: getattr(tariff, each.name) for each in fields(TariffTerms)}
        terms = TariffTerms(**(now | {"name": options["new_name"] or tariff.name} | _read_terms(options)))
        changed = tariff_services.change_tariff_terms(tariff=tariff, version=tariff.version, terms=terms, by=None)
        self.stdout.write(_describe(changed))

    def _remove(self, options: dict[str, Any]) -> None:
        tariff = _get_tariff(options["name"])
        tariff_services.remove_tariff(tariff)
        self.stdout.write(f"{tariff} is removed.")


def _define_terms(parser: ArgumentParser) -> None:
    parser.add_argument("--most-forwards", type=_parse_count, metavar="N", help="port forwards of a member, at most (default: 8)")
    parser.add_argument(
        "--most-devices", type=_parse_count, metavar="N", help="devices that members register themselves, at most (default: 8)"
    )
    parser.add_argument("--up-kbit", type=_parse_rate, metavar="RATE", help="upload rate in kbit/s, or none (default: none)")
    parser.add_argument("--down-kbit", type=_parse_rate, metavar="RATE", help="download rate in kbit/s, or none (default: none)")
    parser.add_argument("--trial", action=BooleanOptionalAction, help="a trial tariff")
    parser.add_argument("--offered", action=BooleanOptionalAction, help="further members may get it")


def _parse_count(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MOST:
        raise ArgumentTypeError(f"{text} is not between 0 and {MOST}")
    return number


def _parse_rate(text: str) -> int | str:
    return NO_LIMIT if text == NO_LIMIT else int(text)


def _read_terms(options: dict[str, Any]) -> dict[str, Any]:
    """Return the terms that were given, by the names of TariffTerms."""
    given = {each.name: options[each.name] for each in fields(TariffTerms) if each.name != "name" and options[each.name] is not None}
    return {name: None if value == NO_LIMIT else value for name, value in given.items()}


def _get_tariff(name: str) -> Tariff:
    """Return the tariff of this name. Raises CommandError with the existing names."""
    found = Tariff.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Tariff.objects.values_list("name", flat=True)) or "–"
        raise CommandError(f"There is no tariff {name}. Tariffs: {names}.")
    return found


def _describe(tariff: Tariff) -> str:
    rates = "/".join(str(rate or NO_LIMIT) for rate in (tariff.up_kbit, tariff.down_kbit))
    words = [f"{tariff.name}  forwards {tariff.most_forwards}  devices {tariff.most_devices}  up/down kbit/s {rates}"]
    return "  ".join([*words, *(["trial"] if tariff.trial else []), *([] if tariff.offered else ["not offered"])])
