"""Digest of the comparison as a person sees it, so that the agreement is to that and to no later one. Reads rows, asks no gateway."""

from collections.abc import Sequence
from hashlib import blake2b

from django.db.models import QuerySet

from apps.deployments.restored_database.models import DatabaseRestore, RestoreDifference
from apps.network.models import Gateway

_OCTETS = 8  # a person types it


def list_compared_gateways() -> QuerySet[Gateway]:
    """Return the gateways that a restore holds back, by name."""
    return Gateway.objects.filter(retired=None, group__live_since__isnull=False).order_by("name")


def map_differences(restore: DatabaseRestore) -> dict[int, RestoreDifference]:
    """Return what is known of each gateway, by its id."""
    return {each.gateway_id: each for each in restore.differences.all()}


def digest_comparison(gateways: Sequence[Gateway], differences: dict[int, RestoreDifference]) -> str:
    """Return the digest of what these gateways run and would get, as far as it is known, as 16 hexadecimal digits.

    It stays the same while a comparison is only repeated, whatever it took and with whatever words a gateway did not answer.
    """
    text = "\n".join(_describe(gateway, differences.get(gateway.pk)) for gateway in gateways)
    return blake2b(text.encode(), digest_size=_OCTETS).hexdigest()


def _describe(gateway: Gateway, found: RestoreDifference | None) -> str:
    if found is None:
        return f"{gateway.pk} not compared"
    return f"{gateway.pk} {found.running} {found.target}{' not read' if found.error else ''}"


def digest_open_comparison(restore: DatabaseRestore) -> str:
    """Return the digest of the comparison as it stands."""
    return digest_comparison(list(list_compared_gateways()), map_differences(restore))
