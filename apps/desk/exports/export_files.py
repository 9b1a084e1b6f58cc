"""The list of export files by name, with their content: one list for the page and the API.

The same rows give the same bytes. So a file's ETag is a hash of the rows, which the database computes, and of the code that
writes the file: a client that has the current file gets 304 without the file being written.
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
from apps.desk.exports.device_addresses import ExportHost
from apps.lib.database.consistent_read import hash_rows, hold_read_snapshot
from apps.lib.fields import Prefix
from apps.network.models import Pool

IN_MEMORY = 1 << 20  # octets; a larger file is kept on disk while it is sent
REMEMBERED: Final = 30 * 24 * 3600  # seconds
JSON, TEXT = "application/json", "text/plain; charset=utf-8"
WRITERS: Final = (device_addresses, kea, prometheus, radius, zones)


@dataclass(frozen=True)
class ExportFile:
    """An export file. `make` yields its text in pieces, which are read while it is written.

    `rows`: all rows that the text depends on, or more.
    """

    name: str
    media_type: str
    what: str | Promise
    make: Callable[[], Iterable[str]]
    rows: Callable[[], Iterable[QuerySet[Any, Any]]] = device_addresses.list_source_rows


def list_files() -> list[ExportFile]:
    """Return all files that exist now. The reverse zones depend on the pools."""
    return [
        ExportFile("kea-subnet4.json", JSON, _("Kea DHCPv4: subnets, with an address for each device"), _render_kea4),
        ExportFile("kea-subnet6.json", JSON, _("Kea DHCPv6: subnets, with a prefix for each device"), _render_kea6),
        ExportFile("names.zone", TEXT, _("DNS: names of members’ devices"), _render_names),
        *_iter_reverse_zones(),
        ExportFile("radius-users.txt", TEXT, _("FreeRADIUS: members’ devices by their MAC addresses"), _render_radius),
        ExportFile(
            "prometheus-gateways.json",
            JSON,
            _("Prometheus: management addresses of gateways"),
            prometheus.render_gateway_targets,
            prometheus.list_source_rows,
        ),
        ExportFile(
            "prometheus-probes.json",
            JSON,
            _("Prometheus: probe targets of gateway groups"),
            prometheus.render_probes,
            prometheus.list_source_rows,
        ),
    ]


def serve_file(request: HttpRequest, file: ExportFile) -> HttpResponseBase:
    """Return the file, or 304 if the client has the current one."""
    with hold_read_snapshot():
        tag = compute_etag(file)
        known = get_conditional_response(request, etag=tag)
        response: HttpResponseBase = known if isinstance(known, HttpResponse) else _build_response(file)
    response["ETag"], response["Cache-Control"] = tag, "private, no-cache"  # 304 has them, too (RFC 9110, section 15.4.5)
    return response


def _build_response(file: ExportFile) -> FileResponse:
    return FileResponse(_write_file(file), content_type=file.media_type, filename=file.name, as_attachment=True)


def find_size(file: ExportFile) -> int | None:
    """Return the octets of the file when it was last written; None if that was longer than REMEMBERED ago, or never."""
    known = cache.get(f"export-{file.name}")
    return known if isinstance(known, int) else None


def compute_etag(file: ExportFile) -> str:
    """Return an ETag that changes whenever the file's content may change."""
    said = "\n".join((file.name, settings.DNS_ZONE, _hash_code(), hash_rows(file.rows())))
    return f'"{hashlib.sha256(said.encode()).hexdigest()[:32]}"'


@once
def _hash_code() -> str:
    """Return a hash of the code that writes the files, so that an update of the code makes new ETags."""
    return hashlib.sha256("".join(map(getsource, WRITERS)).encode()).hexdigest()


def _write_file(file: ExportFile) -> IO[bytes]:
    """Write the file to a temporary file, and return that, rewound."""
    into = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the response closes it
    for piece in file.make():
        into.write(piece.encode())
    cache.set(f"export-{file.name}", into.tell(), REMEMBERED)
    into.seek(0)
    return into


def _iter_pools(kind: str) -> Iterator[tuple[Pool, Iterator[ExportHost], kea.PrefixesByMac]]:
    return (
        (pool, device_addresses.iter_hosts(kind, pool), device_addresses.group_prefixes_by_mac(pool))
        for pool in Pool.objects.filter(kind=kind).order_by("prefix")
    )


def _render_kea4() -> Iterable[str]:
    return kea.render_subnets(_iter_pools(Pool.Kind.PRIVATE4), "ip-address")


def _render_kea6() -> Iterable[str]:
    return kea.render_subnets(_iter_pools(Pool.Kind.PREFIX6), "prefixes")


def _iter_inside_hosts() -> Iterator[ExportHost]:
    yield from device_addresses.iter_hosts(Pool.Kind.PRIVATE4)
    yield from device_addresses.iter_hosts(Pool.Kind.PREFIX6)


def _render_names() -> Iterable[str]:
    return zones.render_forward_zone(settings.DNS_ZONE, _iter_inside_hosts())


def _iter_reverse_zones() -> Iterator[ExportFile]:
    """Yield the reverse zones of all pools except public IPv4 ones; pools in the same zone share its file."""
    known: dict[str, list[tuple[Pool, Prefix]]] = {}
    for pool in Pool.objects.exclude(kind=Pool.Kind.PUBLIC4).order_by("prefix"):
        for origin, part in zones.iter_reverse_origins(pool.prefix):
            known.setdefault(origin, []).append((pool, part))
    for origin, parts in known.items():
        yield ExportFile(
            f"{origin}.zone", TEXT, _("DNS: reverse zones, from addresses to names"), partial(_render_addresses, origin, tuple(parts))
        )


def _render_addresses(origin: str, parts: tuple[tuple[Pool, Prefix], ...]) -> Iterable[str]:
    inside = (host for pool, part in parts for host in device_addresses.iter_hosts(pool.kind, pool, part))
    return zones.render_reverse_zone(origin, settings.DNS_ZONE, inside)


def _render_radius() -> Iterable[str]:
    return radius.iter_radius_entries(
        device_addresses.iter_devices(), _map_first_prefixes(Pool.Kind.PRIVATE4), _map_first_prefixes(Pool.Kind.PREFIX6)
    )


def _map_first_prefixes(kind: str) -> dict[str, Prefix]:
    """Return the first prefix of each device by its MAC address."""
    found: dict[str, Prefix] = {}
    for host in device_addresses.iter_hosts(kind):
        if host.card:
            found.setdefault(host.card.mac, host.prefix)
    return found
