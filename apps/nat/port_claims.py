"""Explains why the database refused ports that only another member may have."""

from django.db import IntegrityError, connection
from django.utils.translation import gettext as _
from psycopg.types.range import Int4Range

from apps.lib.database.validity import is_valid_now_or_later
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.members.models import Member
from apps.nat.models import PortClaim
from apps.network.models import Holding

FREE_PORT = """
    SELECT min(port) FROM generate_series(%(start)s, 65536 - %(ports)s) AS port WHERE NOT EXISTS (
        SELECT FROM nat_portclaim c WHERE c.public = %(public)s::inet AND c.ports && int4range(port, port + %(ports)s)
            AND c.protocols @> %(protocol)s
            AND (c.member_id <> %(member)s OR c.forward_id IS NOT NULL) AND c.valid && tstzrange(statement_timestamp(), NULL))
"""
PROTOCOLS = {"tcp": 6, "udp": 17}  # IANA protocol numbers


def is_claim_violation(error: IntegrityError) -> bool:
    """Return True if the database refused the ports because another member claims them."""
    return "portclaim_of_one_member" in str(error)


def find_claim(public: Address, member: int, ports: Int4Range | None = None) -> tuple[PortClaim, Member] | None:
    """Return another member's claim on this address, or on these ports of it, with the member."""
    claims = PortClaim.objects.filter(is_valid_now_or_later(), public=public).exclude(member_id=member)
    claim = (claims.filter(ports__overlap=ports) if ports is not None else claims).order_by("pk").first()
    return (claim, Member.objects.get(pk=claim.member_id)) if claim else None


def build_claim_problem(holding: Holding, public: Address, protocol: str, port: int, ports: int) -> Problem:
    """Return the Problem for a forward of ports in another member's block, or on another member's own address."""
    free = _find_free_port(holding, public, protocol, port, ports)
    facts: dict[str, object] = {"port": port, "public": public, "free": free}
    found = find_claim(public, holding.member_id, Int4Range(port, port + ports))
    if found is None:
        text = _("Port %(port)d of %(public)s was just given to another member.")
    else:
        claim, member = found
        facts |= {"member": member.name, "first": claim.ports.lower, "last": claim.ports.upper - 1}
        whole = claim.ports.lower == 0
        text = (
            _("%(public)s is the address of %(member)s alone.")
            if whole
            else _("Port %(port)d of %(public)s belongs to %(member)s, who has %(first)d to %(last)d.")
        )
    more = " " + _("%(free)d is free.") if facts["free"] else ""
    said = (text + more) % facts
    unnamed = (_("Port %(port)d of %(public)s belongs to another member.") + more) % facts
    return Problem(said, "public_port", offer=str(facts["free"] or ""), culprit=found and found[0], unnamed=unnamed)


def _find_free_port(holding: Holding, public: Address, protocol: str, wanted: int, ports: int) -> int | None:
    """Return the first port of a span of this length, from `wanted` on, that neither another member claims nor a forward uses. If none is
    free there, search from 1024 on.
    """
    where: dict[str, str | int] = {"public": str(public), "ports": ports, "protocol": PROTOCOLS[protocol], "member": holding.member_id}
    with connection.cursor() as cursor:
        for start in (wanted, 1024):
            cursor.execute(FREE_PORT, {**where, "start": start})
            port: int | None = cursor.fetchone()[0]
            if port:
                return port
    return None
