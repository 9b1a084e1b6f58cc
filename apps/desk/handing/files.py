"""Which files there are, by name, and what is in each: one list for the page and the API.

The same rows give the same bytes, so a file's ETag is the hash of what it says, and whoever has it is told that nothing changed.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO

from django.conf import settings
from django.db import transaction
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.desk.handing import kea, prometheus, radius, zones
from apps.desk.handing.hosts import Host, cards, hosts
from apps.lib.fields import Prefix
from apps.network.models import Pool

IN_MEMORY = 1 << 20  # octets; more is kept on the disk while it is sent
JSON, TEXT = "application/json", "text/plain; charset=utf-8"


@dataclass(frozen=True)
class File:
    """`make`: its text in pieces, read from the database while it is written."""

    name: str
    media_type: str
    what: str | Promise
    make: Callable[[], Iterable[str]]


def files() -> list[File]:
    """All that there are now: a reverse zone comes with its pool."""
    return [
        File("kea-subnet4.json", JSON, _("DHCPv4 of Kea: subnets, with an address for each device"), _kea4),
        File("kea-subnet6.json", JSON, _("DHCPv6 of Kea: subnets, with a prefix for each device"), _kea6),
        File("names.zone", TEXT, _("DNS: names of members’ devices"), _names),
        *_reverse_zones(),
        File("radius-users.txt", TEXT, _("FreeRADIUS: members’ devices by their MAC addresses"), _radius),
        File("prometheus-gateways.json", JSON, _("Prometheus: where gateways are managed"), prometheus.gateways),
        File("prometheus-probes.json", JSON, _("Prometheus: what gateways are probed with"), prometheus.probes),
    ]


def answer(request: HttpRequest, file: File) -> HttpResponseBase:
    """The file, or 304 for whoever has it as it is."""
    written, etag = _written(file)
    known = get_conditional_response(request, etag=etag)
    if isinstance(known, HttpResponse):
        written.close()
        return known
    response = FileResponse(written, content_type=file.media_type, filename=file.name, as_attachment=True)
    response["ETag"], response["Cache-Control"] = etag, "private, no-cache"
    return response


@transaction.atomic
def _written(file: File) -> tuple[IO[bytes], str]:
    """Its octets, at their beginning, and their hash as an ETag."""
    into, digest = SpooledTemporaryFile(IN_MEMORY), hashlib.sha256()  # noqa: SIM115 - the response closes it
    for piece in file.make():
        octets = piece.encode()
        digest.update(octets)
        into.write(octets)
    into.seek(0)
    return into, f'"{digest.hexdigest()[:32]}"'


def _pools(kind: str) -> Iterator[tuple[Pool, Iterator[Host]]]:
    return ((pool, hosts(kind, pool)) for pool in Pool.objects.filter(kind=kind).order_by("prefix"))


def _kea4() -> Iterable[str]:
    return kea.subnets(_pools(Pool.Kind.PRIVATE4), "ip-address")


def _kea6() -> Iterable[str]:
    return kea.subnets(_pools(Pool.Kind.PREFIX6), "prefixes")


def _inside() -> Iterator[Host]:
    yield from hosts(Pool.Kind.PRIVATE4)
    yield from hosts(Pool.Kind.PREFIX6)


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
    inside = (host for pool, part in parts for host in hosts(pool.kind, pool, part))
    return zones.reverse(origin, settings.DNS_ZONE, inside)


def _radius() -> Iterable[str]:
    return radius.users(cards(), _of_cards(Pool.Kind.PRIVATE4), _of_cards(Pool.Kind.PREFIX6))


def _of_cards(kind: str) -> dict[str, Prefix]:
    """The first that each device has, by its MAC address."""
    found: dict[str, Prefix] = {}
    for host in hosts(kind):
        if host.card:
            found.setdefault(host.card.mac, host.prefix)
    return found
