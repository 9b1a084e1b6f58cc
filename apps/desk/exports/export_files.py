"""Which files there are, by name, and what is in each: one list for the page and the API.

The same rows give the same bytes. So a file's ETag is a hash of the rows, which the database makes, and of the code that writes it: whoever
has the file is told that nothing changed, without writing it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache as once
from functools import partial
from inspect import getsource
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

from django.conf import settings
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.desk.exports import device_addresses, kea, prometheus, radius, zones
from apps.desk.exports.device_addresses import Host
from apps.lib.database.consistent_read import frozen, stamp
from apps.lib.fields import Prefix
from apps.network.models import Pool

IN_MEMORY = 1 << 20  # octets; more is kept on the disk while it is sent
REMEMBERED: Final = 30 * 24 * 3600  # seconds
JSON, TEXT = "application/json", "text/plain; charset=utf-8"
WRITERS: Final = (device_addresses, kea, prometheus, radius, zones)


@dataclass(frozen=True)
class File:
    """`make`: its text in pieces, read from the database while it is written. `rows`: all that the text is made from, or more."""

    name: str
    media_type: str
    what: str | Promise
    make: Callable[[], Iterable[str]]
    rows: Callable[[], Iterable[QuerySet[Any, Any]]] = device_addresses.rows


def files() -> list[File]:
    """All that there are now: a reverse zone comes with its pool."""
    return [
        File("kea-subnet4.json", JSON, _("DHCPv4 of Kea: subnets, with an address for each device"), _kea4),
        File("kea-subnet6.json", JSON, _("DHCPv6 of Kea: subnets, with a prefix for each device"), _kea6),
        File("names.zone", TEXT, _("DNS: names of members’ devices"), _names),
        *_reverse_zones(),
        File("radius-users.txt", TEXT, _("FreeRADIUS: members’ devices by their MAC addresses"), _radius),
        File("prometheus-gateways.json", JSON, _("Prometheus: where gateways are managed"), prometheus.gateways, prometheus.rows),
        File("prometheus-probes.json", JSON, _("Prometheus: what gateways are probed with"), prometheus.probes, prometheus.rows),
    ]


def answer(request: HttpRequest, file: File) -> HttpResponseBase:
    """The file, or 304 for whoever has it as it is."""
    with frozen():
        tag = etag(file)
        known = get_conditional_response(request, etag=tag)
        response: HttpResponseBase = known if isinstance(known, HttpResponse) else _sent(file)
    response["ETag"], response["Cache-Control"] = tag, "private, no-cache"  # of 304, too (RFC 9110, section 15.4.5)
    return response


def _sent(file: File) -> FileResponse:
    return FileResponse(_written(file), content_type=file.media_type, filename=file.name, as_attachment=True)


def size(file: File) -> int | None:
    """Octets that it had when it was last written, within REMEMBERED; None when nobody fetched it since."""
    known = cache.get(f"export-{file.name}")
    return known if isinstance(known, int) else None


def etag(file: File) -> str:
    """Another one as soon as the file may say something else."""
    said = "\n".join((file.name, settings.DNS_ZONE, _code(), stamp(file.rows())))
    return f'"{hashlib.sha256(said.encode()).hexdigest()[:32]}"'


@once
def _code() -> str:
    """A hash of what writes the files: where an update writes them otherwise, they are new."""
    return hashlib.sha256("".join(map(getsource, WRITERS)).encode()).hexdigest()


def _written(file: File) -> IO[bytes]:
    """Its octets, at their beginning."""
    into = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the response closes it
    for piece in file.make():
        into.write(piece.encode())
    cache.set(f"export-{file.name}", into.tell(), REMEMBERED)
    into.seek(0)
    return into


def _pools(kind: str) -> Iterator[tuple[Pool, Iterator[Host], kea.Several]]:
    return (
        (pool, device_addresses.of(kind, pool), device_addresses.several(pool))
        for pool in Pool.objects.filter(kind=kind).order_by("prefix")
    )


def _kea4() -> Iterable[str]:
    return kea.subnets(_pools(Pool.Kind.PRIVATE4), "ip-address")


def _kea6() -> Iterable[str]:
    return kea.subnets(_pools(Pool.Kind.PREFIX6), "prefixes")


def _inside() -> Iterator[Host]:
    yield from device_addresses.of(Pool.Kind.PRIVATE4)
    yield from device_addresses.of(Pool.Kind.PREFIX6)


def _names() -> Iterable[str]:
    return zones.forward(settings.DNS_ZONE, _inside())


def _reverse_zones() -> Iterator[File]:
    """Of all pools inside; two pools that share a zone share its file."""
    known: dict[str, list[tuple[Pool, Prefix]]] = {}
    for pool in Pool.objects.exclude(kind=Pool.Kind.PUBLIC4).order_by("prefix"):
        for origin, part in zones.origins(pool.prefix):
            known.setdefault(origin, []).append((pool, part))
    for origin, parts in known.items():
        yield File(f"{origin}.zone", TEXT, _("DNS: backwards, from addresses to names"), partial(_addresses, origin, tuple(parts)))


def _addresses(origin: str, parts: tuple[tuple[Pool, Prefix], ...]) -> Iterable[str]:
    inside = (host for pool, part in parts for host in device_addresses.of(pool.kind, pool, part))
    return zones.reverse(origin, settings.DNS_ZONE, inside)


def _radius() -> Iterable[str]:
    return radius.users(device_addresses.cards(), _of_cards(Pool.Kind.PRIVATE4), _of_cards(Pool.Kind.PREFIX6))


def _of_cards(kind: str) -> dict[str, Prefix]:
    """The first that each device has, by its MAC address."""
    found: dict[str, Prefix] = {}
    for host in device_addresses.of(kind):
        if host.card:
            found.setdefault(host.card.mac, host.prefix)
    return found
