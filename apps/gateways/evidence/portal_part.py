"""What the portal itself knows about a gateway, as a part of its archive: probes, health, rollouts, switches."""

import json
from collections.abc import Iterable
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.forms.models import model_to_dict

from apps.deployments.models import RolloutStep
from apps.gateways.health.models import HealthFinding, HealthReading
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.roles.models import CarrierChange, RoleSwitch
from apps.network.models import Gateway

READINGS: Final = 12  # two minutes
STEPS: Final = 20
CHANGES: Final = 20


def build_portal_part(gateway: Gateway) -> bytes:
    """Return JSON."""
    steps = RolloutStep.objects.filter(gateway=gateway).select_related("rollout").order_by("-rollout_id")[:STEPS]
    readings = HealthReading.objects.filter(gateway=gateway).order_by("-at")[:READINGS]
    told = {
        "gateway": {"name": gateway.name, "group": gateway.group.name, "lan": gateway.lan, "wan": gateway.wan, "sync": gateway.sync},
        "probes": _list_values(ProbeStatus.objects.filter(gateway=gateway)),
        "health_findings": _list_values(HealthFinding.objects.filter(gateway=gateway)),
        "health_readings": [{"at": each.at, "measures": each.measures} for each in readings],
        "rollouts": [_describe_step(each) for each in steps],
        "switches": _list_values(RoleSwitch.objects.filter(group=gateway.group_id)[:CHANGES]),
        "carrier_changes": _list_values(CarrierChange.objects.filter(group=gateway.group_id)[:CHANGES]),
    }
    return json.dumps(told, indent=1, cls=DjangoJSONEncoder).encode()


def _list_values(rows: Iterable[Model]) -> list[dict[str, Any]]:
    """Return all fields but who asked: the archive leaves the portal, and accounts have no part in a fault."""
    return [{**model_to_dict(row, exclude=["by"]), **_list_times(row)} for row in rows]


def _list_times(row: Model) -> dict[str, Any]:
    """Return the fields that forms leave out."""
    return {field.name: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.editable and field.name != "by"}


def _describe_step(step: RolloutStep) -> dict[str, Any]:
    rollout = step.rollout
    return {
        "rollout": rollout.pk,
        "revision": rollout.revision_id,
        "state": rollout.state,
        "finished": rollout.finished,
        "gateway_state": step.state,
        "sent": step.sent,
        "confirmed": step.confirmed,
        "error": step.error,
        "evidence": step.evidence,
    }
