"""Models of this app: machines that are about to become gateways. Gateways themselves belong to apps.network."""

from apps.gateways.joining.models import JoiningMachine

__all__ = ["JoiningMachine"]
