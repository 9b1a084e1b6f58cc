"""Formats values for people: numbers with units, times, addresses.

Takes plain values, returns text in the active language: SI units, three digits, a narrow no-break space before the unit, a true
minus. None becomes "unknown", 0 becomes 0. Nothing here knows HTML; the current time is an argument.
"""

from datetime import UTC, date, datetime
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network, ip_address, ip_interface, ip_network

from django.utils.dateformat import format as format_date
from django.utils.timezone import get_current_timezone
from django.utils.translation import get_language, gettext, ngettext, pgettext

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Interface = IPv4Interface | IPv6Interface
Number = int | float

OCTETS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
BITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
PACKETS = ("/s", "k/s", "M/s")

SPACE = "\u202f"
_SWAP = str.maketrans(",.", ".,")
_ZONES = {"CET": "MEZ", "CEST": "MESZ"}


def is_german() -> bool:
    return (get_language() or "en").startswith("de")


def format_number(value: Number | None, digits: int = 0) -> str:
    """Format a number with a true minus: 2,418 or 2.418."""
    if value is None:
        return gettext("unknown")
    text = f"{value:,.{digits}f}".replace("-", "\u2212")
    return text.translate(_SWAP) if is_german() else text


def format_scaled(value: Number | None, units: tuple[str, ...], whole: bool = False) -> str:
    """Format with three digits in the largest of `units` (each 1000 times the one before). `whole`: the first unit has no fractions."""
    if value is None:
        return gettext("unknown")
    size, unit = float(abs(value)), 0
    while size >= 999.5 and unit < len(units) - 1:
        size, unit = size / 1000, unit + 1
    digits = 0 if size == 0 or size >= 99.95 or (whole and unit == 0) else 1 if size >= 9.995 else 2
    return f"{format_number(-size if value < 0 else size, digits)}{SPACE}{units[unit]}"


def format_volume(octets: Number | None) -> str:
    """Format bytes in SI units: 14.2 GB."""
    return format_scaled(octets, OCTETS, whole=True)


def format_change(octets: Number | None) -> str:
    """Format by how many bytes something grew, in SI units: +14.2 MB, −3 kB; "" if that is not known."""
    if octets is None:
        return ""
    return f"{'+' if octets > 0 else '−' if octets < 0 else '±'}{format_volume(abs(octets))}"


def format_rate(bits: Number | None) -> str:
    """Format bits per second: 418 Mbit/s."""
    return format_scaled(bits, BITS, whole=True)


def format_packets(per_second: Number | None) -> str:
    """Format packets per second: 212 k/s."""
    return format_scaled(per_second, PACKETS, whole=True)


def format_percent(value: Number | None, digits: int | None = None) -> str:
    """Format percent: 25.3 %. Without `digits`, an int has no fraction and a float has one digit."""
    if value is None:
        return gettext("unknown")
    return f"{format_number(value, digits if digits is not None else int(isinstance(value, float)))}{SPACE}%"


def format_duration(seconds: Number | None) -> str:
    """Format a duration: 3 ms, 0.38 s, 17 s, 14 min, 3 h, 5 days.

    Negative values count as 0: the clocks of two machines differ, and times are rounded.
    """
    if seconds is None:
        return gettext("unknown")
    seconds = max(seconds, 0)
    if seconds < 0.1:
        return f"{format_number(seconds * 1000, 0 if seconds == 0 or seconds >= 0.01 else 1)}{SPACE}ms"
    if seconds < 120:
        return f"{format_number(seconds, 2 if seconds < 10 and seconds % 1 else 0)}{SPACE}s"
    if seconds < 7200:
        return f"{format_number(seconds // 60)}{SPACE}min"
    if seconds < 172_800:
        return f"{format_number(seconds // 3600)}{SPACE}h"
    days = int(seconds // 86_400)
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": format_number(days)}


def format_zone(at: datetime) -> str:
    """Return CET or CEST, in German MEZ or MESZ."""
    name = at.astimezone(get_current_timezone()).strftime("%Z")
    return _ZONES.get(name, name) if is_german() else name


def format_moment(at: datetime, now: datetime, with_zone: bool = False, with_seconds: bool = True, *, with_day: bool = False) -> str:
    """Format a time: 21:13:40 today, "Tue 10 Nov, 18:02" this year, "3 May 2026, 02:14 CEST" before.

    The zone is added on request, wherever it differs from the current one, so that a column headed CET never contains an unmarked
    CEST, and to times that the clock shows twice. with_day: today has its day, too, for a text that is read on a later one.
    """
    local, today = at.astimezone(get_current_timezone()), now.astimezone(get_current_timezone())
    clock, exact = pgettext("time of day", "H:i"), pgettext("time of day", "H:i:s")
    if local.date() == today.date() and not with_day:
        text = format_date(local, exact if with_seconds else clock)
    else:
        this_year, older = pgettext("day of this year", "D j M"), pgettext("day", "j M Y")
        text = format_date(local, f"{this_year if local.year == today.year else older}, {clock}")
    return _append_zone(text, at) if with_zone or local.utcoffset() != today.utcoffset() or _is_shown_twice(local) else text


def _is_shown_twice(local: datetime) -> bool:
    """True in the hour that the clock shows twice, when it goes back."""
    return local.replace(fold=1 - local.fold).utcoffset() != local.utcoffset()


def format_weekday_and_time(at: datetime) -> str:
    """Format as Mon 9 Nov, 08:15 (German: Mo, 09.11., 08:15), independent of the current day."""
    day_format, clock = pgettext("day of this year", "D j M"), pgettext("time of day", "H:i")
    return format_date(at.astimezone(get_current_timezone()), f"{day_format}, {clock}")


def format_full_time(at: datetime) -> str:
    """Format as Thu 12 Nov 2026, 21:13 CET (German: Do, 12.11.2026, 21:13 Uhr MEZ)."""
    day_format, clock = pgettext("day with weekday", "D j M Y"), pgettext("time of day", "H:i")
    return _append_zone(format_date(at.astimezone(get_current_timezone()), f"{day_format}, {clock}"), at)


def _append_zone(text: str, at: datetime) -> str:
    return pgettext("time and zone", "%(time)s %(zone)s") % {"time": text, "zone": format_zone(at)}


def format_day(value: date | None) -> str:
    """Format as 1 Oct 2025 (German: 01.10.2025)."""
    if value is None:
        return gettext("unknown")
    if isinstance(value, datetime):
        value = value.astimezone(get_current_timezone())
    return format_date(value, pgettext("day", "j M Y"))


def format_ago(at: datetime, now: datetime) -> str:
    """Format as 3 s ago. For times under a minute, or beside the absolute time."""
    seconds = max(0, round((now.astimezone(UTC) - at.astimezone(UTC)).total_seconds()))
    return gettext("%(duration)s ago") % {"duration": format_duration(seconds)} if seconds else gettext("just now")


def format_address(value: str | Address | Network | Interface, port: int | str | None = None) -> str:
    """Format in canonical form (RFC 5952): a network keeps its length, a host has none; `address:port`, `[v6]:port`.

    Text that is not an address is returned unchanged.
    """
    parsed = _parse_address(value) if isinstance(value, str) else value
    if isinstance(parsed, str):
        return parsed
    if isinstance(parsed, IPv4Interface | IPv6Interface) and parsed.network.prefixlen == parsed.max_prefixlen:
        parsed = parsed.ip
    text = _format_canonical(parsed)
    if port is None:
        return text
    return f"[{text}]:{port}" if parsed.version == 6 else f"{text}:{port}"


def _format_canonical(value: Address | Network | Interface) -> str:
    if type(value) is IPv6Address and value.ipv4_mapped:
        return f"::ffff:{value.ipv4_mapped}"
    return str(value)


def _parse_address(text: str) -> str | Address | Network | Interface:
    for parse in (ip_address, ip_network, ip_interface):
        try:
            return parse(text.strip())
        except ValueError:
            continue
    return text
