"""Models of this app: machines that are about to become gateways, and roles in failover. Gateways themselves belong to apps.network."""

from apps.gateways.joining.models import JoiningMachine
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch

__all__ = ["CarrierChange", "FailoverStatus", "GatewayRole", "JoiningMachine", "RoleSwitch"]
