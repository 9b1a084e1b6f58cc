"""Cells of the table as values: numbers, days, addresses, forwards. Each function takes text, and raises Problem or ValidationError
with a sentence for people. Pure.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Network
from typing import Final

from django.conf import settings
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from apps.lib.csv_stream import FORMULA
from apps.lib.database.validity import EARLIEST, FARTHEST
from apps.lib.errors import Problem
from apps.lib.fields import Address, MacField, Prefix
from apps.members.models import Member
from apps.members.room_names import LONGEST_NAME
from apps.members.services import LAST_NUMBER
from apps.members.site_services import HIGHEST_FLOOR, LOWEST_FLOOR
from apps.nat.models import PortForward

LONGEST_PERSON_NAME: Final = 120
LONGEST_EMAIL: Final = 254
LONGEST_HOUSE: Final = 60
LONGEST_DEVICE: Final = 60
DAYS: Final = ("%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y")
STATES: Final = {
    "active": Member.State.ACTIVE,
    "aktiv": Member.State.ACTIVE,
    "pending": Member.State.PENDING,
    "not yet active": Member.State.PENDING,
    "noch nicht aktiv": Member.State.PENDING,
    "left": Member.State.LEFT,
    "ausgezogen": Member.State.LEFT,
}
LANGUAGE_WORDS: Final = {"english": "en", "englisch": "en", "german": "de", "deutsch": "de"}
_MAC: Final = MacField()
_WHOLE: Final = re.compile(r"(-?\d+)\.0+")
_SPAN: Final = r"(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?"
_FORWARD: Final = re.compile(rf"(tcp|udp)[\s/:]*{_SPAN}(?:\s*(?:→|->|=>|>)\s*{_SPAN})?(?:\s*\(([^()]*)\))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WantedForward:
    """Ports that shall lead to the member: `ports` of them, from public_port and private_port on."""

    protocol: str
    public_port: int
    private_port: int
    ports: int = 1
    purpose: str = ""


def unescape_formula(text: str) -> str:
    """Return the text without the apostrophe by which our own CSV keeps spreadsheets from running it (`lib/csv_stream.py`)."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text


def strip_fraction(text: str) -> str:
    """Return 12 for 12.0, as a spreadsheet may have made of it."""
    found = _WHOLE.fullmatch(text)
    return found[1] if found else text


def parse_number(text: str) -> int:
    """Return a member's number, from 2207 or M-2207."""
    digits = strip_fraction(text.upper().removeprefix("M-"))
    if digits.isascii() and digits.isdigit() and len(digits) <= 10 and 0 < int(digits) <= LAST_NUMBER:
        return int(digits)
    raise Problem(_("“%(text)s” is not a member number. Write it like 2207 or M-2207.") % {"text": text[:40]})


def _parse_text(text: str, most: int) -> str:
    written = " ".join(text.split())
    if len(written) > most:
        raise Problem(_("This has more than %(most)d characters.") % {"most": most})
    return written


parse_name = partial(_parse_text, most=LONGEST_PERSON_NAME)
parse_house = partial(_parse_text, most=LONGEST_HOUSE)
parse_device_name = partial(_parse_text, most=LONGEST_DEVICE)


def parse_note(text: str) -> str:
    return text


def parse_email(text: str) -> str:
    written = _parse_text(text, LONGEST_EMAIL)
    validate_email(written)
    return written


def parse_room(text: str) -> str:
    """Return the room as written; with its house it is longer than a door alone."""
    return strip_fraction(_parse_text(text, LONGEST_NAME + LONGEST_HOUSE))


def parse_floor(text: str) -> int:
    digits = strip_fraction(text)
    if re.fullmatch(r"-?\d{1,3}", digits, re.ASCII) and LOWEST_FLOOR <= int(digits) <= HIGHEST_FLOOR:
        return int(digits)
    raise Problem(_("A floor is between %(least)d and %(most)d.") % {"least": LOWEST_FLOOR, "most": HIGHEST_FLOOR})


def parse_state(text: str) -> str:
    state = STATES.get(" ".join(text.lower().split()))
    if state is None:
        raise Problem(_("“%(text)s” is not a state. Write active, pending or left.") % {"text": text[:40]})
    return state


@lru_cache(maxsize=4_096)  # the same few days stand in most lines
def parse_day(text: str) -> date:
    """Return a day, from 2027-03-31 or 31.03.2027, also with the midnight that spreadsheets add."""
    written = re.sub(r"[ T]00:00(:00(\.0+)?)?$", "", text)
    for form in DAYS:
        try:
            day = datetime.strptime(written, form).date()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            continue
        if not EARLIEST <= day < FARTHEST:
            break
        return day
    raise Problem(_("“%(text)s” is not a date. Write it like 2027-03-31 or 31.03.2027.") % {"text": text[:40]})


def parse_language(text: str) -> str:
    written = text.lower()
    code = LANGUAGE_WORDS.get(written, written)
    known = [name for name, _words in settings.LANGUAGES]
    if code not in known:
        raise Problem(_("“%(text)s” is not a language of the portal: %(known)s.") % {"text": text[:40], "known": ", ".join(known)})
    return code


def parse_mac(text: str) -> str:
    if not text:
        raise Problem(_("The MAC address of this device is missing."))
    mac: str = _MAC.to_python(text)
    return mac


def parse_publics(text: str) -> tuple[Address, ...]:
    """Return the public addresses: one, or in our own export all as which the member leaves."""
    return tuple(each.network_address for each in parse_addresses(text))


def parse_addresses(text: str) -> tuple[Prefix, ...]:
    """Return IPv4 addresses, separated by spaces or commas, as prefixes of full length."""
    return tuple(_parse_address(part) for part in re.split(r"[\s,;]+", text) if part)


def _parse_address(text: str) -> Prefix:
    try:
        return IPv4Network(IPv4Address(text.removesuffix("/32")))
    except ValueError as error:
        raise Problem(_("“%(text)s” is not an IPv4 address. Write it like 10.64.3.17.") % {"text": text[:60]}) from error


def parse_prefixes(text: str) -> tuple[Prefix, ...]:
    """Return IPv6 prefixes, separated by spaces or commas."""
    return tuple(_parse_prefix6(part) for part in re.split(r"[\s,;]+", text) if part)


def _parse_prefix6(text: str) -> Prefix:
    try:
        return IPv6Network(text)
    except ValueError as error:
        raise Problem(_("“%(text)s” is not an IPv6 prefix. Write it like 2001:db8:3:17::/64.") % {"text": text[:60]}) from error


def parse_forwards(text: str) -> tuple[WantedForward, ...]:
    """Return forwards such as “tcp 443 → 8443 (Nextcloud), udp 6000-6009”, separated by commas, semicolons or lines."""
    parts = re.split(r"[,;\n]+(?![^()]*\))", text)
    return tuple(_parse_forward(part.strip()) for part in parts if part.strip())


def _parse_forward(text: str) -> WantedForward:
    found = _FORWARD.fullmatch(text)
    if not found:
        words = _("“%(text)s” is not a forward. Write it like tcp 443 → 8443, tcp 22, or udp 6000-6009.")
        raise Problem(words % {"text": text[:60]})
    protocol, first, last, to, to_last, purpose = found.groups()
    public, private = int(first), int(to or first)
    ports = int(last or first) - public + 1
    if to_last and int(to_last) - private + 1 != ports:
        raise Problem(_("“%(text)s”: both sides need the same number of ports.") % {"text": text[:60]})
    if ports < 1 or ports > PortForward.MOST_PORTS or min(public, private) < 1 or max(public, private) + ports > 65536:
        facts = {"text": text[:60], "most": PortForward.MOST_PORTS}
        raise Problem(_("“%(text)s”: ports are 1 to 65535, at most %(most)d at once.") % facts)
    return WantedForward(protocol.lower(), public, private, ports, _parse_text(purpose or "", 80))
