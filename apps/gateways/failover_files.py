"""Files of a gateway's failover, for keepalived, conntrackd and netzwart-failover, from the rows of its group.

Takes a gateway's row; returns the text of each file by its name. Writes nothing: firewall/failover renders the text.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import Final

from django.utils.translation import gettext as _

from apps.gateways.primaries import list_families
from apps.lib.errors import Problem
from apps.lib.web.request_cache import cache_per_request
from apps.network.models import Failover, Gateway, Pool, Profile
from firewall.failover import (
    FailoverGateway,
    FailoverSpec,
    InterfaceSide,
    ProgramPaths,
    StateCacheMode,
    VirtualAddress,
    digest_files,
    render_files,
)
from firewall.failover.on_link import MOST_ON_LINK, count_on_link, list_on_link
from firewall.file_trial import InstallFiles
from firewall.policy import Interfaces, PolicyError, Prefix

SIDES: Final = {"inside": InterfaceSide.LAN, "outside": InterfaceSide.WAN, "servers": InterfaceSide.SERVER}
_PATHS: Final = ProgramPaths()
FILENAMES: Final = tuple(PurePosixPath(path).name for path in (_PATHS.keepalived, _PATHS.conntrackd, _PATHS.settings))
DIRECTORY: Final = "failover"  # where the files are put on a gateway, for instance
PACKAGES_COMMAND: Final = "apt-get install --no-install-recommends keepalived conntrackd"
INSTALL_COMMANDS: Final = (f"mkdir -p {DIRECTORY}", f"netzwart-failover install {DIRECTORY}")  # by hand


@cache_per_request
def find_failover(group: int) -> Failover | None:
    """Return the failover of a group by its id; None if it is not managed here."""
    return Failover.objects.filter(group=group).select_related("group").first()


@cache_per_request
def _find_managed_profile(group: int) -> Profile | None:
    return Profile.objects.filter(group=group, managed=True).first()


def render_failover_files(gateway: Gateway, paths: ProgramPaths = _PATHS) -> dict[str, str]:
    """Return the text of each file by its name. Raises Problem, which says what is missing. paths: where the programs run."""
    rendered = _with_values(gateway, partial(render_files, paths=paths))
    return {PurePosixPath(path).name: text for path, text in rendered.items()}


def _with_values[T](gateway: Gateway, render: Callable[[FailoverGateway], T]) -> T:
    """Return what is rendered from the gateway's values. Raises Problem, which says what is missing."""
    row = find_failover(gateway.group_id)
    if row is None:
        words = _("Failover is not set for %(group)s, so there are no files for %(gateway)s.")
        raise Problem(words % {"group": gateway.group, "gateway": gateway}, culprit=gateway.group)
    try:
        return render(build_failover_gateway(gateway, build_failover_spec(row)))
    except PolicyError as error:
        words = _("%(gateway)s cannot use these settings: %(reason)s.")
        raise Problem(words % {"gateway": gateway, "reason": error}, culprit=gateway) from error


def digest_failover_files(gateway: Gateway) -> str:
    """Return the digest that the gateway tells of these files when it runs them. Raises Problem as render_failover_files does."""
    return _with_values(gateway, digest_files)


def build_install_request(gateway: Gateway) -> InstallFiles:
    """Return the request by which the gateway's agent installs these files. Raises Problem as render_failover_files does."""
    return _with_values(gateway, lambda values: InstallFiles(values, digest_files(values)))


def build_failover_spec(row: Failover) -> FailoverSpec:
    """Build the group's values from its row."""
    addresses = tuple(VirtualAddress(side, each.ip, each.network.prefixlen) for name, side in SIDES.items() for each in getattr(row, name))
    pools = _list_outside_pools(row.group_id)
    return FailoverSpec(addresses, row.virtual_router, row.interval, row.failback, StateCacheMode(row.cache), pools, row.announce)


def count_on_link_addresses(row: Failover) -> int:
    """Return how many public addresses of members the carrier of IPv4 holds, because they are on the uplink's own link.

    0 if they are too many, for which render_failover_files raises a Problem.
    """
    spec = build_failover_spec(row)
    return len(list_on_link(spec)) if count_on_link(spec) <= MOST_ON_LINK else 0


@cache_per_request
def _list_outside_pools(group: int) -> tuple[Prefix, ...]:
    """Return the prefixes of members' public addresses."""
    pools = Pool.objects.filter(group=group, kind__in=[Pool.Kind.PUBLIC4, Pool.Kind.PREFIX6])
    return tuple(pools.order_by("prefix").values_list("prefix", flat=True))


def build_failover_gateway(gateway: Gateway, spec: FailoverSpec) -> FailoverGateway:
    """Build a gateway's values. Raises Problem if it has no state sync interface, or no address there."""
    require_sync_interface(gateway)
    if not isinstance(gateway.sync_address, IPv4Address):
        words = _("%(gateway)s has no address on its state sync interface %(interface)s. Enter it on the page of %(gateway)s.")
        raise Problem(words % {"gateway": gateway, "interface": gateway.sync}, "sync_address", culprit=gateway)
    server = gateway.server_interface.name if hasattr(gateway, "server_interface") else ""
    interfaces = Interfaces(gateway.lan, gateway.wan, gateway.management, gateway.sync, server)
    made = FailoverGateway(interfaces, gateway.sync_address, spec, frozenset(list_families(gateway)))
    profile = _find_managed_profile(gateway.group_id)
    return replace(made, connections=profile.connections) if profile else made


def require_sync_interface(gateway: Gateway) -> None:
    """Raise Problem if the gateway has no state sync interface."""
    if not gateway.sync:
        words = _(
            "%(gateway)s has no state sync interface. Failover needs a link between the gateways: enter it on the page of %(gateway)s."
        )
        raise Problem(words % {"gateway": gateway}, "sync", culprit=gateway)
