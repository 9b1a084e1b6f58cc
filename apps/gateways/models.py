"""Models of this app: upgrades of agents, joining machines, roles, probes, health, evidence. Gateways belong to apps.network."""

from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.evidence.models import EvidenceArchive, EvidenceDownload, EvidenceFile
from apps.gateways.health.models import HealthFinding, HealthReading, HealthSample, HealthStatus
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch
from apps.gateways.timeouts.models import TimeoutReading

__all__ = [
    "AgentUpgrade",
    "AgentUpgradeStep",
    "CarrierChange",
    "EvidenceArchive",
    "EvidenceDownload",
    "EvidenceFile",
    "FailoverStatus",
    "GatewayRole",
    "HealthFinding",
    "HealthReading",
    "HealthSample",
    "HealthStatus",
    "JoiningMachine",
    "ProbeStatus",
    "RoleSwitch",
    "TimeoutReading",
]
