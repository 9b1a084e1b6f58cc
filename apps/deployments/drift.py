"""What a gateway's kernel holds otherwise than its agent committed, one by one: found, kept, forgotten when it is right.

Kept as {"rules": [names], "elements": {set: {"missing": [texts], "foreign": [texts], "missing_count": n, "foreign_count": n}},
"sysctls": [[name, wanted, found]]}.
"""

from collections.abc import Iterator
from typing import Any

import structlog
from django.db.models.functions import Coalesce, Now

from apps.deployments import database_clock
from apps.deployments.carry import NotDone, expect
from apps.deployments.link import Channel, Unreachable
from apps.deployments.models import GatewayState
from apps.network.models import Gateway
from firewall import wire
from firewall.render import render_elements
from firewall.ruleset import Elements, Ruleset, Set

MOST = 100  # elements of a set that are kept, each way
LONGEST = 300  # characters of one element's text

log = structlog.get_logger()


def look(gateway: Gateway, channel: Channel, wanted: Ruleset, now: int) -> bool:
    """Ask the gateway, and keep what it says. Is there any?"""
    try:
        drifted = expect(wire.Drifted, channel.ask(wire.Drift(now, database_clock.earliest())))
    except (Unreachable, NotDone) as fault:
        log.warning("drift not known", gateway=gateway.name, error=str(fault))
        return False
    found = told(drifted, wanted, now)
    mine = GatewayState.objects.filter(gateway=gateway)
    if not found:
        mine.exclude(drift=None).update(drift=None, drift_since=None)
        return False
    log.warning("drift", gateway=gateway.name, rules=found["rules"], sets=sorted(found["elements"]), sysctls=found["sysctls"])
    mine.update(drift=found, drift_since=Coalesce("drift_since", Now()))
    return True


def told(drifted: wire.Drifted, wanted: Ruleset, now: int) -> dict[str, Any]:
    """For the page, as texts; empty when nothing differs."""
    if not drifted.rules and not drifted.elements and not drifted.sysctls:
        return {}
    elements = {
        name: {
            "missing": _texts(wanted.sets.get(name), each.missing, now),
            "foreign": _texts(wanted.sets.get(name), each.foreign, now),
            "missing_count": each.missing_count,
            "foreign_count": each.foreign_count,
        }
        for name, each in drifted.elements.items()
    }
    return {"rules": list(drifted.rules), "elements": elements, "sysctls": [list(each) for each in drifted.sysctls]}


def _texts(of: Set | None, elements: Elements, now: int) -> list[str]:
    return [text[:LONGEST] for text, _ in zip(_rendered(of, elements, now), range(MOST), strict=False)]


def _rendered(of: Set | None, elements: Elements, now: int) -> Iterator[str]:
    """A set that the portal does not know has keys of unknown types."""
    return render_elements(of, elements, now) if of else (key.hex() for key in elements)
