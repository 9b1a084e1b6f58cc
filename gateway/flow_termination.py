"""Ends the open connections that a change affects (firewall/flows.py decides which), with one listing of flows for each change, and
those that were ended and came back from the other gateway (firewall/returned_flows.py).

The listing covers all flows, or only those that lead to what changed. It walks the kernel's whole hash table, which takes some
milliseconds even if it is empty, so at commit it is made only if bans or blocks were added. The change is committed by then and
stands, whatever fails here: -1 says that flows could not be cut.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from firewall.diff import Delta
from firewall.flows import Flow, FlowChanges
from firewall.former_holders import FormerHolder
from firewall.returned_flows import ForbiddenFlows
from firewall.ruleset import Elements
from gateway.log_texts import to_plain_line
from gateway.table import NftTable, TableError

log = logging.getLogger("gateway")
FormerFlows: TypeAlias = list[tuple[Flow, tuple[FormerHolder, ...]]]


def cut_flows_at_commit(table: NftTable, delta: Delta, after: Mapping[str, Elements]) -> tuple[int, tuple[Flow, ...] | None]:
    """Cut the flows that are banned or blocked from now on. Return how many, and the flows to cut at confirmation (None: not listed yet).

    after: what the sets hold now.
    """
    changes = FlowChanges(delta, after=after)
    if not changes.cuts_at_commit:
        return 0, None if changes else ()
    try:
        now, later = changes.split_by_moment(table.list_flows())
        return table.cut(now) if now else 0, tuple(later)
    except (TableError, OSError) as error:
        log.error("the change stands, but its flows could not be cut: %s", to_plain_line(str(error)))
        return -1, None


def cut_flows_at_confirm(
    table: NftTable, deltas: Sequence[Delta], flows: Sequence[Flow] | None, after: Mapping[str, Elements]
) -> tuple[int, FormerFlows]:
    """Cut the flows that the confirmed changes, taken together, end. Return how many, and those of members who lost an address.

    flows: as listed at commit; None: not listed yet. The changes may also be those that take a trial back.
    """
    if flows == ():
        return 0, []
    changes = FlowChanges(*deltas, after=after)
    if not changes:
        return 0, []
    try:
        listed = table.list_flows(changes.flow_filters) if flows is None else flows
        ended = [flow for flow in listed if changes.find_moment(flow)]
        former = [(flow, holders) for flow in ended if (holders := changes.list_former_holders(flow))]
        return table.cut(ended) if ended else 0, former
    except (TableError, OSError) as error:
        log.error("the confirmed ruleset runs, but its flows could not be cut: %s", to_plain_line(str(error)))
        return -1, []


def cut_reappeared(table: NftTable, returned: ForbiddenFlows) -> tuple[int, list[Flow]]:
    """Cut the flows that may not be open. Return how many, and which. Raises TableError or OSError. May run beside everything else."""
    flows = [flow for flow in table.list_flows() if flow in returned] if returned else []
    return table.cut(flows) if flows else 0, flows
