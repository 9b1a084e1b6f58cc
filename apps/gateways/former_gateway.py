"""What an undo of a gateway's last change has to look at and bring back beside the row itself."""

from apps.gateways.enrolment import check_name_is_free
from apps.gateways.interface_facts import check_interfaces
from apps.gateways.primaries import restore_former_primaries
from apps.gateways.probe_facts import check_probe
from apps.gateways.replacement import forget_old_machine
from apps.gateways.retirement import find_rollout_obstacle, plan_retirement, refuse_taken_values
from apps.gateways.services import get_facts, refuse_held_interfaces
from apps.gateways.sync_facts import check_own_addresses
from apps.lib.errors import Problem
from apps.network.models import Gateway


def prepare_gateway_undo(former: Gateway, current: Gateway | None) -> None:
    """Raise Problem if an undo must not bring back these values; move the primaries as they were then."""
    if current is None or former.name != current.name:
        check_name_is_free(former.name)
    if current and current.retired and not former.retired:
        refuse_taken_values(former)
    check_interfaces(former, former)
    check_probe(former, former)
    check_own_addresses(former, former)
    if current is None:
        return
    refuse_held_interfaces(get_facts(former), current)
    if obstacle := _find_obstacle(former, current):
        raise obstacle
    if former.host_key != current.host_key:
        forget_old_machine(current)
    restore_former_primaries(former, current)


def _find_obstacle(former: Gateway, current: Gateway) -> Problem | None:
    """Return why the gateway cannot be retired again, or become another machine again; None if it can."""
    if former.retired and not current.retired:
        return plan_retirement(current).obstacle
    return find_rollout_obstacle(current) if former.host_key != current.host_key else None
