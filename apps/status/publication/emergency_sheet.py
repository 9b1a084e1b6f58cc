"""The emergency sheet: what an administrator needs when the portal is gone, as files for a private place elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.template.loader import render_to_string

from apps.accounts.models import User
from apps.accounts.roles import Right, list_roles_with_right
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.transport.management_ports import list_ports
from apps.deployments.transport.ssh import compute_fingerprint
from apps.gateways.roles.picture import map_carried_families
from apps.network.models import Gateway, GatewayGroup, Pool
from apps.preferences.declarations import CONTACT, NETWORK_NAME
from apps.preferences.selectors import read_setting
from apps.status.incidents.selectors import list_unfinished_incidents
from firewall.policy import PolicyError
from firewall.render import render

RUNBOOK: Final = Path(__file__).parents[3] / "docs/runbook.md"


@dataclass(frozen=True)
class GatewaySheet:
    """What the sheet says of a gateway. port: where its sshd lets people in now. ruleset: name of the file that holds it, "" if it cannot
    be compiled; problem: why.
    """

    gateway: Gateway
    port: int
    carries: Sequence[int]
    fingerprint: str
    ruleset: str
    problem: str


def build_emergency_sheet(now: datetime) -> Mapping[str, bytes]:
    """Return the files by name: the sheet, the runbook, and each gateway's ruleset for “nft -f”."""
    files: dict[str, bytes] = {"runbook.md": RUNBOOK.read_bytes()} if RUNBOOK.exists() else {}
    sheets: list[GatewaySheet] = []
    carried = map_carried_families(list(Gateway.objects.select_related("group")))
    for group in GatewayGroup.objects.order_by("name"):
        texts, problem = _render_rulesets(group)
        for gateway in group.gateways.order_by("name"):
            name = f"{gateway.name}.nft" if gateway.pk in texts else ""
            if name:
                files[name] = texts[gateway.pk].encode()
            print_of = compute_fingerprint(gateway.host_key) if gateway.host_key else ""
            sheets.append(GatewaySheet(gateway, list_ports(gateway)[0], sorted(carried.get(gateway.pk, ())), print_of, name, problem))
    files["emergency.html"] = render_to_string("status/emergency.html", _build_context(sheets, now)).encode()
    return files


def _render_rulesets(group: GatewayGroup) -> tuple[Mapping[int, str], str]:
    """Return the text for each gateway of the group, and why there is none."""
    try:
        wanted = compute_desired_state(group)
    except PolicyError as error:
        return {}, str(error)
    return {pk: render(ruleset, now=wanted.snapshot.now) for pk, ruleset in wanted.rulesets.items()}, ""


def _build_context(sheets: Sequence[GatewaySheet], now: datetime) -> dict[str, object]:
    people = User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.OPERATE)).order_by("last_name", "username")
    return {
        "network": read_setting(NETWORK_NAME),
        "contact": read_setting(CONTACT),
        "portal": settings.PORTAL_URL,
        "now": now,
        "people": people,
        "gateways": sheets,
        "pools": Pool.objects.order_by("group__name", "prefix").select_related("group"),
        "incidents": list_unfinished_incidents(),
        "runbook": RUNBOOK.exists(),
    }
