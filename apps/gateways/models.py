"""Models of this app: joining machines, roles in failover, and whether packets pass. Gateways themselves belong to apps.network."""

from apps.gateways.joining.models import JoiningMachine
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch

__all__ = ["CarrierChange", "FailoverStatus", "GatewayRole", "JoiningMachine", "ProbeStatus", "RoleSwitch"]
