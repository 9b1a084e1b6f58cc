"""A token without access to members learns no member's name: not from a refusal, not from a trace."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from structlog.testing import capture_logs

from apps.accounts import tokens
from apps.bans.blocks.services import block_member
from apps.members.models import Device
from apps.nat.services import add_forward
from tests import factories

JSON = "application/json"
NAMES = re.compile(r"%\((member|owner|other|holder|device|who)\)s")
OWN = {
    **dict.fromkeys(
        [f"apps/gateways/{name}.py" for name in ("groups", "services", "group_settings")],
        "who changed a gateway or its group is staff",
    ),
    "apps/tickets/services.py": "who answers tickets is staff",
}
"""Whose sentences name no member."""


@pytest.fixture
def network(network: factories.Network) -> factories.Network:
    """A network in which m2 already has what m1 asks for."""
    far = network.residents["m2"]
    type(far.member).objects.filter(pk=far.member.pk).update(name="Jonas Geheim")
    ports = {"public": far.mapping.public, "protocol": "tcp", "public_port": 8443, "private_port": 443}
    add_forward(holding=far.holding, by=network.admin, **ports)
    block_member(member=far.member, reason="abuse", message="", by=network.admin)
    return network


def script(network: factories.Network, **limits: Any) -> Client:
    key = tokens.create_token(user=network.admin, name="s", **limits)[1]
    return Client(headers={"authorization": f"Bearer {key}"})


def list_taken(network: factories.Network) -> list[tuple[str, dict[str, Any]]]:
    """Return requests for what m2 already has, in each collection where things have one owner."""
    near, far = network.residents["m1"], network.residents["m2"]
    forward = {"holding": near.holding.pk, "protocol": "tcp", "public_address": str(far.mapping.public), "private_port": 22}
    return [
        ("nat/forwards", forward | {"public_port": 8443}),
        ("members/devices", {"member": near.member.pk, "name": "Laptop", "mac": Device.objects.get(member=far.member).mac}),
        ("network/addresses", {"member": near.member.pk, "pool": network.private.pk, "address": str(far.holding.prefix[0])}),
        ("network/addresses", {"member": near.member.pk, "pool": network.private.pk, "device": Device.objects.get(member=far.member).pk}),
        ("members/members", {"name": "X", "tariff": near.member.tariff_id, "since": "2026-11-22", "number": far.member.number}),
        ("bans/blocks", {"member": far.member.pk, "reason": "abuse", "message": ""}),
        ("nat/forwards", forward | {"public_port": 8445, "holding": far.holding.pk, "private_port": 70000}),
    ]


@pytest.mark.parametrize("limit", ["member", "group", "scope"])
def test_no_refusal_tells_a_token_that_is_not_for_them_who_others_are(network: factories.Network, limit: str) -> None:
    scopes = ["forward:write", "device:write", "address:write", "member:write", "block:write", "mapping:write"]
    every: dict[str, dict[str, Any]] = {
        "member": {"member": network.residents["m1"].member.pk},
        "group": {"group": network.group.pk},
        "scope": {"scopes": [each for each in scopes if not each.startswith("member")]},
    }
    limited, everything = script(network, **every[limit]), script(network)
    for path, body in list_taken(network):
        for form in (body, [body]):
            refused, named = (api.post(f"/api/{path}/", form, content_type=JSON) for api in (limited, everything))
            assert 400 <= refused.status_code < 500 <= 500, (path, refused.content)
            text = refused.content.decode()
            assert "Geheim" not in text and "Laptop of m2" not in text, (path, text)
            assert named.status_code >= 400
    taken = limited.post("/api/nat/forwards/", list_taken(network)[0][1], content_type=JSON).json()
    assert taken["detail"] == "TCP 8443 on 198.51.100.7 is taken already. 8444 is free." and taken["offer"] == "8444"
    whole = everything.post("/api/nat/forwards/", list_taken(network)[0][1], content_type=JSON).json()
    assert "of Jonas Geheim" in whole["detail"]


def test_each_sentence_that_names_somebody_says_whose_it_is() -> None:
    """Each refusal with a name in it passes `culprit`, so that a token that may not see the member gets another sentence."""
    bare = []
    for path in sorted(Path(settings.ROOT / "apps").rglob("*.py")):
        where = str(path.relative_to(settings.ROOT))
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and where not in OWN:
                texts = [each.value for each in ast.walk(function) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
                if any(NAMES.search(text) for text in texts):
                    bare += [(where, function.name, call.lineno) for call in _refusals(function) if not _is_told(call, function)]
    assert bare == []


def _refusals(function: ast.FunctionDef) -> list[ast.Call]:
    calls = [each for each in ast.walk(function) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    return [call for call in calls if call.func.id in ("Problem", "Conflict", "Refused")]  # type: ignore[attr-defined]  # a Name


def _is_told(call: ast.Call, function: ast.FunctionDef) -> bool:
    """True if the refusal contains no name or passes `culprit`."""
    text = ast.unparse(call.args[0]) if call.args else ""
    variables = {each.id for each in ast.walk(call.args[0]) if isinstance(each, ast.Name)} if call.args else set()
    assigned = [each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.AugAssign)]
    given = " ".join(ast.unparse(each.value) for each in assigned if variables & {ast.unparse(to) for to in getattr(each, "targets", [])})
    return not NAMES.search(text + given) or any(each.arg == "culprit" for each in call.keywords)


@pytest.mark.django_db(transaction=True)
def test_a_trace_turns_no_address_into_a_person_for_a_token_of_gateways(transactional_db: None) -> None:
    network = factories.network()
    far = network.residents["m2"]
    type(far.member).objects.filter(pk=far.member.pk).update(name="Jonas Geheim")
    block_member(member=far.member, reason="abuse", message="", by=network.admin)
    path = f"/api/gateways/gateways/{network.gateways[0].pk}/trace/"
    question = {"source": str(far.holding.prefix[0]), "destination": "203.0.113.9"}
    gateways, members = script(network, scopes=["gateway:read"]), script(network, scopes=["gateway:read", "member:read"])
    with capture_logs() as logs:
        told, named = gateways.get(path, question), members.get(path, question)
    assert told.json()["outcome"] == named.json()["outcome"]
    assert "Geheim" in named.content.decode() and "complaint" in named.content.decode()
    assert "block of a member" in told.content.decode()
    assert not re.search("Geheim|complaint|/members/|/blocks/", told.content.decode())
    assert [(each["named"], each["source"]) for each in logs if each["event"] == "trace"] == [
        (named, question["source"]) for named in (False, True)
    ]
    by_name = gateways.get(path, question | {"source": "Jonas Geheim"})
    assert by_name.status_code == 400 and "member:read" in by_name.json()["detail"]
    assert members.get(path, question | {"source": "Jonas Geheim"}).status_code == 200
