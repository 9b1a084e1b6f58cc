"""Gauges of gateways' kernels: their sysctls and the fill level of the connection table. Read with the counters, shown on pages.

Stored as {"at": Unix seconds, "tracked": connections, "held": {sysctl: value}, "untuned": {sysctl: the name of an errno, or "other"}}.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.network.models import Gateway, GatewayGroup, Pool, Profile, compute_first_block_port
from firewall import policy as firewall
from firewall.profile import list_sysctl_differences
from firewall.wire import GaugesAre

WARN_ABOVE = 80  # percent
CONNTRACK_MAX, CONNTRACK_BUCKETS = "net.netfilter.nf_conntrack_max", "net.netfilter.nf_conntrack_buckets"


@dataclass(frozen=True)
class SysctlDeviation:
    """A sysctl with another value than the profile's, and the reason."""

    name: str
    wanted: str
    found: str
    why: str


@dataclass(frozen=True)
class ConnectionTable:
    """A gateway's connection table, as its kernel reports it. most, buckets: 0 if unknown."""

    gateway: Gateway
    at: datetime
    tracked: int
    most: int
    buckets: int
    others: tuple[SysctlDeviation, ...]

    @property
    def percent(self) -> int:
        """Fill level in percent, rounded down."""
        return self.tracked * 100 // self.most if self.most else 0

    @property
    def kind(self) -> StateKind:
        """Kind of the gauge: a warning above 80 %, because a full table accepts no new connection."""
        return StateKind.WARN if self.percent > WARN_ABOVE else StateKind.PLAIN

    @property
    def has_too_few_buckets(self) -> bool:
        """True if a full table would have more connections than buckets, so that lookups walk chains."""
        return self.most > self.buckets > 0


def store_kernel_gauges(*, gateway: Gateway, answer: GaugesAre, at: datetime) -> None:
    """Store what the gateway reports of its kernel."""
    kept = {"at": int(at.timestamp()), "tracked": answer.tracked, "held": dict(answer.held), "untuned": dict(answer.untuned)}
    GatewayState.objects.filter(gateway=gateway).update(kernel=kept, unshaped=answer.unshaped)


def find_connection_table(status: GatewayState | None, row: Profile | None) -> ConnectionTable | None:
    """Return the gateway's connection table; None if it has never been read. `status` comes with its gateway.

    Compares the kernel with the profile only if one was saved and is managed: recommended values bind no kernel.
    """
    if status is None or not status.kernel:
        return None
    kept: dict[str, Any] = status.kernel
    held: dict[str, str] = kept["held"]
    others = tuple(_iter_deviations(row, held, kept["untuned"])) if row and row.pk and row.managed else ()
    at = datetime.fromtimestamp(kept["at"], UTC)
    return ConnectionTable(
        status.gateway, at, kept["tracked"], _parse_number(held, CONNTRACK_MAX), _parse_number(held, CONNTRACK_BUCKETS), others
    )


def list_connection_tables(group: GatewayGroup, row: Profile) -> list[ConnectionTable]:
    """Return the tables of the group's gateways that have been read, by gateway name."""
    states = GatewayState.objects.filter(gateway__group=group, gateway__retired=None).select_related("gateway").order_by("gateway__name")
    return [table for table in (find_connection_table(state, row) for state in states) if table]


def _parse_number(held: dict[str, str], name: str) -> int:
    value = held.get(name, "")
    return int(value) if value.isdecimal() else 0


def _iter_deviations(row: Profile, held: dict[str, str], untuned: dict[str, str]) -> Iterator[SysctlDeviation]:
    wanted = firewall.Profile(**{each.name: getattr(row, each.name) for each in fields(firewall.Profile)})
    for name, value, found in list_sysctl_differences(wanted, held):
        yield SysctlDeviation(name, value, found or _("nothing"), _explain_reason(untuned.get(name, "")))


def _explain_reason(reason: str) -> str:
    words = {
        "": _("Not set yet, or changed by hand since."),
        "EACCES": _("This gateway is a network namespace; its host’s kernel decides."),
        "EPERM": _("The agent’s account may not set it: does its unit give it CAP_NET_ADMIN?"),
        "EROFS": _("The agent’s unit makes it read-only: install the unit of this release."),
        "ENOENT": _("Its kernel has no such setting."),
        "other": _("The kernel accepted the value but stored a different one."),
    }
    return words.get(reason) or _("The kernel refuses it (%(reason)s).") % {"reason": reason}


def list_warnings(row: Profile) -> list[str]:
    """Return warnings about values that are allowed but may cause problems."""
    return [*_iter_crowded_warnings(row), *_iter_overlap_warnings(row)] if row.managed else []


def _iter_crowded_warnings(row: Profile) -> Iterator[str]:
    if row.connections > row.buckets:
        share = {"n": formats.format_number(-(-row.connections // row.buckets))}
        yield (
            _(
                "In a full table up to %(n)s connections share a bucket, and each packet searches through them. "
                "Set as many buckets as connections."
            )
            % share
        )


def _iter_overlap_warnings(row: Profile) -> Iterator[str]:
    for pool in Pool.objects.filter(group=row.group_id, sharing=Pool.Sharing.BLOCKS, block_size__isnull=False).order_by("prefix"):
        first = compute_first_block_port(pool.block_size or 0)
        if row.last_port >= first:
            given = {"pool": pool.name, "first": max(first, row.first_port), "last": row.last_port}
            yield (
                _(
                    "Members of the pool %(pool)s have blocks with the ports %(first)d to %(last)d. If a gateway’s own "
                    "address is in that pool, its own connections use ports of these blocks."
                )
                % given
            )
