"""A token limited to one gateway group or site reaches nothing else in any collection of the API. All registered ones are walked."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from apps.accounts import tokens
from apps.accounts.models import ApiToken
from apps.bans.listeners.models import Listener
from apps.deployments.models import Hold, Revision, Rollout
from apps.events.subscriber_rights import SubscriberRefused, SubscriberRequest, authenticate_subscriber
from apps.lib.api.viewsets import CollectionViewSet
from apps.lib.errors import Problem
from apps.members.models import Room, Site
from apps.nat.services import add_forward, map_address
from apps.network.models import GatewayGroup
from portal.api import router
from tests import factories

JSON = "application/json"
EVERY: list[tuple[str, Any]] = [(prefix, view) for prefix, view, _basename in router.registry]


@dataclass(frozen=True)
class TokenWorld:
    """Two groups with their gateways and pools, two sites, and a member of each. `near` is within the token's reach, `far` is not."""

    network: factories.Network
    far_group: GatewayGroup
    near_site: Site
    far_site: Site
    near: factories.Resident
    far: factories.Resident

    def script(self, **limits: Any) -> Client:
        key = tokens.create_token(user=self.network.admin, name="s", **limits)[1]
        return Client(headers={"authorization": f"Bearer {key}"})


@pytest.fixture
def world(network: factories.Network) -> TokenWorld:
    sites = [Site.objects.create(code=code, name=f"House {code}") for code in ("X", "Y")]
    group = GatewayGroup.objects.create(name="Far away")
    factories.gateway(group, "far-1", carries4=True)
    inside, outside = (
        factories.pool(group, "private4", "172.20.0.0/16"),
        factories.pool(group, "public4", "192.0.2.128/28", sharing="shared"),
    )
    prefixes = factories.pool(group, "prefix6", "2001:db8:fa00::/40")
    who, near = factories.member("Far Away"), network.residents["m1"]
    held = factories.make_holding(who, inside, "172.20.0.10")
    mapping = map_address(holding=held, public=outside.prefix[1], by=network.admin)
    far = factories.Resident(who, held, mapping, factories.make_holding(who, prefixes, "2001:db8:fa00:1::/64"))
    for each, site in ((near, sites[0]), (far, sites[1])):
        each.member.room = Room.objects.create(site=site, floor=1, name="101")
        each.member.save()
        public = {"public": each.mapping.public, "protocol": "tcp", "public_port": 4000, "private_port": 22}
        add_forward(holding=each.holding, by=network.admin, **public)
    for of in (network.group, group):
        revision = Revision.objects.create(group=of, cause="change", changes=[], elements=0, digests={}, delta="", snapshot="1:1:")
        Rollout.objects.create(group=of, revision=revision, state="confirmed")
        Hold.objects.create(group=of, revision=revision, why="because", by=network.admin)
        Listener.objects.create(group=of, name="ssh", address=f"203.0.113.{of.pk % 200 + 1}", protocol="tcp", port=22)
    return TokenWorld(network, group, sites[0], sites[1], near, far)


def _ids(client: Client, prefix: str) -> set[int] | None:
    """Return the ids that the client sees, or None if the collection is closed to it."""
    answer = client.get(f"/api/{prefix}/?limit=1000&fields=id")
    return {row["id"] for row in answer.json()["results"]} if answer.status_code == 200 else None


def _mine(view: type[CollectionViewSet], path: str, value: int) -> set[int]:
    """Return the ids within the limit, as the database has them."""
    made: Any = view(request=Request(APIRequestFactory().get("/")), action="list", kwargs={}, format_kwarg=None)
    return set(made.get_queryset().filter(**{path: value}).values_list("pk", flat=True))


@pytest.mark.parametrize("limit", ["group", "site"])
def test_a_limited_token_sees_its_own_in_every_collection_and_nothing_else_in_any(world: TokenWorld, limit: str) -> None:
    value = {"group": world.network.group.pk, "site": world.near_site.pk}[limit]
    client, everything, open_ = world.script(**{limit: value}), world.script(), []
    for prefix, view in EVERY:
        path = view().site_path if limit == "site" else view.group_path
        if not hasattr(view, "list"):
            near, far = (client.get(f"/api/{prefix}/{pk}/").status_code for pk in (world.network.group.pk, world.far_group.pk))
            assert (near, far) == ((200, 404) if path else (403, 403)), prefix
            continue
        seen, all_of_it = _ids(client, prefix), _ids(everything, prefix)
        if not path:
            assert seen is None, f"{prefix}: cannot be told apart, so it is closed"
            continue
        assert seen == _mine(view, path, value), prefix
        for pk in (all_of_it or set()) - (seen or set()):
            assert client.get(f"/api/{prefix}/{pk}/").status_code == 404, prefix
            assert client.patch(f"/api/{prefix}/{pk}/", {}, JSON).status_code in (403, 404, 405), prefix
            assert client.delete(f"/api/{prefix}/{pk}/").status_code in (403, 404, 405), prefix
            assert client.delete(f"/api/{prefix}/", [pk], JSON).status_code in (400, 403, 405), prefix
        open_.append((prefix, bool(seen), bool((all_of_it or set()) - (seen or set()))))
    both = [prefix for prefix, some, others in open_ if some and others]
    wanted = {"group": {"nat/forwards", "nat/mappings", "network/pools", "network/addresses", "gateways/gateways", "gateways/groups"}}
    wanted["group"] |= {"deployments/rollouts", "deployments/revisions", "deployments/holds", "bans/listeners"}
    wanted["site"] = {"members/members", "nat/forwards", "nat/mappings", "network/addresses", "traffic/members"}
    assert wanted[limit] <= set(both), "the world has too little to tell anything"


@pytest.mark.parametrize("limit", ["group", "site"])
def test_a_limited_token_changes_nothing_beyond_its_reach(world: TokenWorld, limit: str) -> None:
    client = world.script(**{limit: {"group": world.network.group.pk, "site": world.near_site.pk}[limit]})

    def wanted(of: factories.Resident, port: int) -> dict[str, Any]:
        public = {"public_address": str(of.mapping.public), "protocol": "tcp", "public_port": port, "private_port": 22}
        return {"holding": of.holding.pk, **public}

    path = "/api/nat/forwards/"
    assert client.post(path, wanted(world.near, 5000), JSON).status_code == 201
    assert client.post(path, wanted(world.far, 5000), JSON).status_code == 403
    assert client.post(path, [wanted(world.near, 5001), wanted(world.far, 5001)], JSON).status_code == 403
    held = {"member": world.far.member.pk, "pool": world.far.holding.pool_id}
    assert client.post("/api/network/addresses/", held, JSON).status_code == 403
    assert client.post("/api/deployments/rollouts/deploy/", {}, JSON).status_code == 403, "that is for the whole network"
    assert world.far.holding.portforwards.count() == 1


@pytest.mark.parametrize("limit", ["group", "site"])
def test_a_token_of_a_group_or_a_house_hears_no_events(world: TokenWorld, limit: str) -> None:
    key = tokens.create_token(user=world.network.admin, name="s", **{limit: 1})[1]  # type: ignore[arg-type]  # one of the limits
    headers = ((b"authorization", f"Bearer {key}".encode()), (b"host", b"localhost"))
    with pytest.raises(SubscriberRefused, match="outside the token’s scope"):
        authenticate_subscriber(SubscriberRequest(headers, "127.0.0.1", secure=False, of_api=True))


def test_a_token_has_one_limit_at_most(world: TokenWorld) -> None:
    with pytest.raises(Problem, match="one gateway group or one house"):
        tokens.create_token(user=world.network.admin, name="s", group=1, site=1)
    with pytest.raises(IntegrityError, match="apitoken_one_limit_at_most"):
        ApiToken.objects.create(user=world.network.admin, name="s", sha256="0", member_id=1, group_id=1)
