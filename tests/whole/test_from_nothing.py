"""From an empty database to a forwarded packet, by REST alone and by commands alone, over ssh to both gateways of the lab."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client

from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.transport import ssh
from apps.lib import enqueue
from lab.lab import Lab
from tests.whole.from_nothing import MEMBERS, POOLS, PORT, PROBE_TARGETS, LabMember, describe_gateway, list_reached_members
from tests.whole.system import GATEWAYS, wait_for
from tests.whole.worker import broker, worker

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

PASSWORD = "correct horse battery"


class Api:
    """Script that speaks to the portal over REST, with a token."""

    def __init__(self, key: str) -> None:
        self._client = Client(headers={"authorization": f"Bearer {key}"})

    def get(self, path: str) -> Any:
        answer = self._client.get(f"/api/{path}")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def post(self, path: str, **body: Any) -> Any:
        answer = self._client.post(f"/api/{path}", json.dumps(body), "application/json")
        assert answer.status_code in (200, 201), (path, body, answer.content)
        return answer.json()


@pytest.fixture
def empty(
    transactional_db: None, by_ssh: dict[str, Popen[str]], bare_lab: Lab, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> Lab:
    """A lab whose gateways are reached by ssh, and a database in which nobody has entered anything yet."""
    settings.REDIS_URL = "unix:///nonexistent/redis.sock"
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    owners = map(apps.get_app_config, ("members", "network", "nat", "accounts", "deployments"))
    assert not [model.__name__ for owner in owners for model in owner.get_models() if model._default_manager.exists()]
    return bare_lab


@pytest.fixture
def working(empty: Lab, sockets: Path, settings: LazySettings) -> Iterator[Lab]:
    """The same, with a worker that deploys."""
    with broker(sockets) as url:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        with worker(url, sockets / "worker.log"):
            yield empty
    enqueue._get_publisher.cache_clear()


def run(*arguments: str) -> str:
    """Run a command; return what it prints."""
    output = io.StringIO()
    call_command(*arguments, stdout=output, stderr=output)
    return output.getvalue()


@pytest.fixture
def administrator(empty: Lab, monkeypatch: pytest.MonkeyPatch) -> str:
    """The first administrator, who was made as docs/set-up.md says."""
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    run("createsuperuser", "--noinput", "--username", "mara", "--email", "mara@lindenhof.example")
    return "mara"


@pytest.fixture
def api(administrator: str) -> Api:
    """A script's token for the administrator."""
    return Api(run("token", administrator, "--name", "set-up").strip())


def add_member_by_api(api: Api, member: LabMember, tariff: int, room: int, pools: dict[str, int]) -> None:
    """Add an active member with both addresses, a public address, and a forward to the web server on the member's host."""
    who = api.post("members/members/", name=member.name, tariff=tariff, room=room, since="2026-11-01")["id"]
    api.post(f"members/members/{who}/activate/")
    holding = api.post("network/addresses/", member=who, pool=pools["private4"], address=member.address)["id"]
    api.post("network/addresses/", member=who, pool=pools["prefix6"], address=member.prefix)
    api.post("nat/mappings/", holding=holding, public_address=member.public)
    api.post("nat/forwards/", holding=holding, protocol="tcp", public_address=member.public, public_port=PORT, private_port=443)


def add_people_by_api(api: Api) -> None:
    """Add the members of the lab, each with a room, to what is there."""
    pools = {each["kind"]: each["id"] for each in api.get("network/pools/")["results"]}
    [tariff], rooms = api.get("members/tariffs/")["results"], api.get("members/rooms/")["results"]
    for member, room in zip(MEMBERS, rooms, strict=False):
        add_member_by_api(api, member, tariff["id"], room["id"], pools)


def write_table(path: Path) -> Path:
    """Write a table of the same members, each with a room, as a spreadsheet would."""
    lines = ["Number;Name;House;Room;Private address;IPv6 prefix;Public address;Forwards"]
    for number, each in enumerate(MEMBERS, 101):
        lines.append(f"{number};{each.name};B;{number};{each.address};{each.prefix};{each.public};tcp {PORT} → 443")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_network_is_entered_and_goes_live_by_rest_alone(working: Lab, api: Api, sockets: Path) -> None:
    group = api.post("gateways/groups/", name="Lindenhof", **PROBE_TARGETS)["id"]
    for name in GATEWAYS:
        api.post("gateways/gateways/", group=group, **describe_gateway(name, sockets))
    for name, kind, prefix, more in POOLS:
        api.post("network/pools/", group=group, name=name, kind=kind, prefix=prefix, **{"member_length": 32, **more})
    site = api.post("members/sites/", code="B", name="House B")["id"]
    for name in ("101", "102"):
        api.post("members/rooms/", site=site, floor=1, name=name)
    api.post("members/tariffs/", name="Standard", most_forwards=8)
    add_people_by_api(api)
    plan = api.get(f"gateways/groups/{group}/plan/")
    assert not plan["problem"] and "2 forwarded ports added" in plan["in_words"]
    assert not api.get("deployments/rollouts/")["results"], "nothing is deployed before somebody goes live"
    assert api.post(f"gateways/groups/{group}/live/")["live_since"]
    [rollout] = wait_for(lambda: api.get("deployments/rollouts/?state=confirmed")["results"], seconds=120)
    assert {step["gateway"] for step in rollout["steps"]} == set(GATEWAYS)
    assert {step["state"] for step in rollout["steps"]} == {"confirmed"}
    for gateway in GATEWAYS:
        assert list_reached_members(working, gateway) == [each.name for each in MEMBERS], gateway


def test_a_network_is_entered_and_goes_live_by_commands_alone(empty: Lab, administrator: str, sockets: Path) -> None:
    run("group", "add", "Lindenhof", *_write_options(PROBE_TARGETS))
    for name in GATEWAYS:
        _add_gateway_by_command(name, sockets)
    for name, kind, prefix, more in POOLS:
        run("pool", "add", name, prefix, "--kind", kind, *_write_options(more))
    run("site", "add", "B", "House B")
    run("site", "rooms", "B", "01-02", "--floors", "1")
    run("tariff", "add", "Standard")
    table = write_table(sockets / "people.csv")
    run("import_people", str(table), "--author", administrator)
    planned = run("plan", "--words")
    assert "2 forwarded ports added" in planned and "172.31.0.0/24 only" in planned
    run("group", "live", "Lindenhof")
    assert run("deploy").count("confirmed") == 2
    for gateway in GATEWAYS:
        assert list_reached_members(empty, gateway) == [each.name for each in MEMBERS], gateway


def _add_gateway_by_command(name: str, sockets: Path) -> None:
    facts = describe_gateway(name, sockets)
    carries = [part for family in ("4", "6") if facts[f"carries{family}"] for part in ("--carries", family)]
    shown = {key: facts[key] for key in ("address", "lan", "wan", "management", "sync")}
    networks = ["--management-network", *facts["management_networks"]]
    fingerprint = ssh.compute_fingerprint(facts["host_key"])
    run("gateway", "add", name, "--group", "Lindenhof", *_write_options(shown), *carries, *networks, "--fingerprint", fingerprint)
    run("gateway", "change", name, *_write_options({key: value for key, value in facts.items() if key.startswith("probe_")}))


def _write_options(values: dict[str, Any]) -> list[str]:
    """Return the values as options of a command."""
    return [part for name, value in values.items() for part in (f"--{name.replace('_', '-')}", str(value))]
