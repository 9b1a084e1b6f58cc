"""Columns of a table of people: what each means, recognised by its header in English or German, as people write it.

Pure: headers come in, meanings go out. A person can choose other meanings; `check_columns` says what is wrong with a choice.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.errors import Problem


class ColumnMeaning(StrEnum):
    """What a column means. SKIP: it is not read."""

    SKIP = "skip"
    NUMBER = "number"
    NAME = "name"
    EMAIL = "email"
    HOUSE = "house"
    ROOM = "room"
    FLOOR = "floor"
    TARIFF = "tariff"
    STATE = "state"
    SINCE = "since"
    PAID_UNTIL = "paid_until"
    LANGUAGE = "language"
    NOTE = "note"
    DEVICE = "device"
    MAC = "mac"
    ADDRESS = "address"
    PUBLIC = "public"
    PREFIX = "prefix"
    FORWARDS = "forwards"


COLUMN_NAMES: Final[dict[ColumnMeaning, str | Promise]] = {
    ColumnMeaning.SKIP: gettext_lazy("– not read –"),
    ColumnMeaning.NUMBER: gettext_lazy("Member number"),
    ColumnMeaning.NAME: gettext_lazy("Name"),
    ColumnMeaning.EMAIL: gettext_lazy("E-mail"),
    ColumnMeaning.HOUSE: gettext_lazy("House"),
    ColumnMeaning.ROOM: gettext_lazy("Room"),
    ColumnMeaning.FLOOR: gettext_lazy("Floor"),
    ColumnMeaning.TARIFF: gettext_lazy("Tariff"),
    ColumnMeaning.STATE: gettext_lazy("State"),
    ColumnMeaning.SINCE: gettext_lazy("Member since"),
    ColumnMeaning.PAID_UNTIL: gettext_lazy("Paid until"),
    ColumnMeaning.LANGUAGE: gettext_lazy("Language"),
    ColumnMeaning.NOTE: gettext_lazy("Note"),
    ColumnMeaning.DEVICE: gettext_lazy("Device"),
    ColumnMeaning.MAC: gettext_lazy("MAC address"),
    ColumnMeaning.ADDRESS: gettext_lazy("Private address"),
    ColumnMeaning.PUBLIC: gettext_lazy("Public address"),
    ColumnMeaning.PREFIX: gettext_lazy("IPv6 prefix"),
    ColumnMeaning.FORWARDS: gettext_lazy("Forwards"),
}
REPEATED: Final = frozenset({ColumnMeaning.SKIP, ColumnMeaning.DEVICE, ColumnMeaning.MAC})
"""Meanings that several columns may have: the first device column belongs to the first MAC column, and so on."""
_WORDS: Final[dict[ColumnMeaning, str]] = {
    ColumnMeaning.SKIP: "Port forwards, IPv6 pinholes, Blocked, Portfreigaben, IPv6-Freigaben, Gesperrt",
    ColumnMeaning.NUMBER: "Number, Member number, Member no, Member id, No, Nr, Nummer, Mitgliedsnummer, Mitglieds-Nr, Mitglied",
    ColumnMeaning.NAME: "Name, Full name, Member name, Person, Resident, Tenant, Vor- und Nachname, Bewohner, Mieter, Vollständiger Name",
    ColumnMeaning.EMAIL: "E-mail, Mail, E-mail address, Mail address, E-Mail-Adresse, Mailadresse",
    ColumnMeaning.HOUSE: "House, Site, Building, Haus, Gebäude, Wohnheim, Block, Standort",
    ColumnMeaning.ROOM: "Room, Room number, Room no, Door, Flat, Apartment, Zimmer, Zimmernummer, Zimmer-Nr, Raum, Wohnung, Tür",
    ColumnMeaning.FLOOR: "Floor, Storey, Level, Etage, Stock, Stockwerk, Geschoss",
    ColumnMeaning.TARIFF: "Tariff, Plan, Rate plan, Tarif",
    ColumnMeaning.STATE: "State, Status, Zustand",
    ColumnMeaning.SINCE: "Member since, Since, Moved in, Move-in, Joined, Begin, Mitglied seit, Seit, Einzug, Eingezogen, Eintritt, Beginn",
    ColumnMeaning.PAID_UNTIL: "Paid until, Paid, Paid to, Bezahlt bis, Bezahlt, Gezahlt bis",
    ColumnMeaning.LANGUAGE: "Language, Lang, Sprache",
    ColumnMeaning.NOTE: "Note, Notes, Comment, Remark, Notiz, Bemerkung, Kommentar, Anmerkung",
    ColumnMeaning.DEVICE: "Device, Device name, Machine, Computer, Gerät, Gerätename, Rechner",
    ColumnMeaning.MAC: "MAC, MAC address, Device MAC, Hardware address, Ethernet, MAC-Adresse, Hardware-Adresse, Geräte-MAC",
    ColumnMeaning.ADDRESS: "Private address, Address, IP, IP address, IPv4, IPv4 address, Private IPv4, Private IP, "
    "Private Adresse, Adresse, IP-Adresse, IPv4-Adresse, Interne Adresse",
    ColumnMeaning.PUBLIC: "Public address, Public IP, Public IPv4, External address, Öffentliche Adresse, Öffentliche IP, Externe Adresse",
    ColumnMeaning.PREFIX: "IPv6 prefix, IPv6, Prefix, IPv6-Präfix, IPv6-Netz, Präfix",
    ColumnMeaning.FORWARDS: "Forwards, Forward, Forwarded ports, Ports, Freigaben, Freigabe, Weiterleitungen, Portweiterleitungen",
}


def normalize_header(header: str) -> str:
    """Return the header's letters and digits in lower case, without accents: “E-Mail ” and “email” are equal."""
    plain = unicodedata.normalize("NFKD", header.casefold().replace("ß", "ss"))
    return "".join(character for character in plain if character.isalnum())


_MEANINGS: Final = {normalize_header(word): column for column, words in _WORDS.items() for word in words.split(",")}


def match_columns(header: Sequence[str]) -> tuple[ColumnMeaning, ...]:
    """Return what each column seems to mean. Of several with the same meaning, only the first is read, except for devices."""
    found: list[ColumnMeaning] = []
    for each in header:
        meaning = _find_meaning(each)
        found.append(ColumnMeaning.SKIP if meaning in found and meaning not in REPEATED else meaning)
    return tuple(found)


def _find_meaning(header: str) -> ColumnMeaning:
    """Return the meaning of a header, also with a number: “MAC 2”, “Device 1 MAC”, “2. Gerät”."""
    written = normalize_header(header)
    numbered = normalize_header(re.sub(r"(?<![A-Za-z])\d+(?!\w)|(?<=\w)\d+$", "", header))
    return _MEANINGS.get(written) or _MEANINGS.get(numbered) or ColumnMeaning.SKIP


def parse_choices(header: Sequence[str], choices: Sequence[str]) -> tuple[ColumnMeaning, ...]:
    """Return the meanings with choices such as “Zimmer=room” applied. Raises Problem, at `column`."""
    meanings = list(match_columns(header))
    for choice in choices:
        name, _equals, meaning = choice.rpartition("=")
        at = [index for index, each in enumerate(header) if normalize_header(each) == normalize_header(name) and name]
        if not at:
            facts = {"name": name or choice, "columns": ", ".join(filter(None, header))[:500]}
            raise Problem(_("The table has no column “%(name)s”. It has: %(columns)s.") % facts, "column")
        if meaning not in ColumnMeaning:
            facts = {"meaning": meaning, "known": ", ".join(ColumnMeaning)}
            raise Problem(_("“%(meaning)s” is no meaning of a column. There are: %(known)s.") % facts, "column")
        for index in at:
            meanings[index] = ColumnMeaning(meaning)
    return tuple(meanings)


def check_columns(header: Sequence[str], meanings: Sequence[ColumnMeaning]) -> None:
    """Raise Problem if members cannot be recognised, or if two columns mean the same."""
    counts = Counter(each for each in meanings if each not in REPEATED)
    twice = next((column for column, number in counts.items() if number > 1), None)
    if twice:
        names = [name for name, meaning in zip(header, meanings, strict=True) if meaning == twice]
        facts = {"meaning": COLUMN_NAMES[twice], "columns": _(" and ").join(f"“{name}”" for name in names)}
        raise Problem(_("Two columns mean “%(meaning)s”: %(columns)s. Choose one of them.") % facts, "column")
    if not counts.keys() & {ColumnMeaning.NUMBER, ColumnMeaning.EMAIL}:
        raise Problem(_("No column has the member number or the e-mail: members are recognised by one of them."), "column")
    pairs = Counter(meanings)
    if pairs[ColumnMeaning.DEVICE] > pairs[ColumnMeaning.MAC]:
        raise Problem(_("There are more columns with devices than with MAC addresses: each device needs both."), "column")
