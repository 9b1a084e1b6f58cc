"""Pages and the REST API of how public pools are shared."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts import tokens
from apps.lib.database.validity import is_valid_now
from apps.nat.models import NatMapping
from apps.nat.pool_sharing import change_sharing
from apps.nat.services import unmap_address
from apps.network.models import Pool
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import HTMX, signed_in, text

HOSTILE = ["\0", "'; DROP TABLE network_pool; --", "9" * 400, "-1", "<script>alert(1)</script>", "💥"]


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def build_form(network: factories.Network, **changes: object) -> dict[str, Any]:
    pool = Pool.objects.get(pk=network.public.pk)
    return {"name": pool.name, "prefix": str(pool.prefix), "version": pool.version, "sharing": "shared", "block_size": ""} | changes


def blocks(network: factories.Network, size: int = 1024) -> None:
    change_sharing(pool=network.public, sharing="blocks", block_size=size, by=network.admin)


def test_a_pool_is_used_otherwise_from_its_page_and_says_how_full_it_is(mara: Client, network: factories.Network) -> None:
    url = f"/addresses/{network.public.pk}/"
    assert "members share the addresses" in text(mara.get(f"{url}edit/"))
    assert mara.post(f"{url}edit/", build_form(network, sharing="blocks", block_size="1024", agreed="1")).status_code == 302
    page = text(mara.get(url))
    assert "blocks of 1,024 ports" in page
    assert "16,002" in page  # 63 blocks of each of 254 addresses
    assert mara.post(f"{url}edit/", build_form(network, sharing="own", agreed="1")).status_code == 302
    assert {str(each.public) for each in NatMapping.objects.filter(is_valid_now(), sharing="own")} == {
        f"198.51.100.{last}" for last in (1, 2, 7, 8)
    }


def test_before_members_leave_otherwise_a_page_says_who_would_leave_as_what(mara: Client, network: factories.Network) -> None:
    response = mara.post(f"/addresses/{network.public.pk}/edit/", build_form(network, sharing="blocks", block_size="1024"))
    page = text(response)
    assert "The public addresses or ports of 4 members change as soon as you save." in page
    assert "They will use 2 addresses of the pool; now they use 2." in page
    assert "198.51.100.7, ports 1024–2047" in page
    assert Pool.objects.get(pk=network.public.pk).sharing == "shared"
    agreed = {field.name: field.value() for field in response.context["form"]} | {"agreed": "1"}
    assert mara.post(f"/addresses/{network.public.pk}/edit/", agreed).status_code == 302
    assert Pool.objects.get(pk=network.public.pk).sharing == "blocks"


def test_a_shared_pool_says_that_reports_name_nobody_and_leads_to_the_blocks_that_suit(mara: Client, network: factories.Network) -> None:
    page = text(mara.get(f"/addresses/{network.public.pk}/"))
    assert "Abuse reports about this pool cannot be traced to a member." in page
    assert f"/addresses/{network.public.pk}/edit/?sharing=blocks&amp;block_size=1024" in page
    form = mara.get(f"/addresses/{network.public.pk}/edit/?sharing=blocks&block_size=1024").context["form"]
    assert (form["sharing"].value(), str(form["block_size"].value())) == ("blocks", "1024")
    blocks(network)
    assert "cannot be traced" not in text(mara.get(f"/addresses/{network.public.pk}/"))


def test_an_address_and_port_that_members_share_name_nobody_and_say_what_to_ask_for(
    mara: Client, api: Client, network: factories.Network
) -> None:
    asked = {"address": "198.51.100.7", "port": "40123", "reason": "abuse report 4711"}
    said = "2 members shared this address. Without the remote address, the member cannot be identified; ask the sender for it."
    assert said in text(mara.post("/addresses/held/", asked))
    answer = api.post("/api/audit/enquiries/", asked, "application/json").json()["answer"]
    assert (answer["only"], answer["unnamed"], answer["confirmed"]) == (None, said, [])


def test_with_blocks_an_address_and_port_name_one_member_and_without_the_port_say_so(
    mara: Client, api: Client, network: factories.Network
) -> None:
    blocks(network)
    asked = {"address": "198.51.100.7", "port": "2100", "reason": "abuse report 4711"}
    page = text(mara.post("/addresses/held/", asked))
    assert "Resident of m2" in page and "Port block: 2048–3071" in page and "nat-1 has not confirmed it yet." in page
    answer = api.post("/api/audit/enquiries/", asked, "application/json").json()["answer"]
    assert (answer["only"]["name"], answer["unnamed"]) == ("Resident of m2", "")
    assert [each["gateway"] for each in answer["confirmed"]] == ["nat-1", "nat-2"]
    without = text(mara.post("/addresses/held/", asked | {"port": ""}))
    assert "2 members had ports of this address. Without the port, the member cannot be identified; ask the sender for it." in without


def test_a_search_for_an_address_and_port_takes_the_port_along(mara: Client, network: factories.Network) -> None:
    page = text(mara.get("/search?q=198.51.100.7:40123", follow=True))
    assert "/addresses/held/?address=198.51.100.7&amp;port=40123" in page


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"sharing": "blocks"}, "block_size", "Choose how many ports a member has"),
        ({"sharing": "own", "block_size": "1024"}, "block_size", "applies only where members have blocks"),
        ({"sharing": "mine"}, "sharing", "mine"),
        ({"sharing": "blocks", "block_size": "1000"}, "block_size", "1000"),
    ],
)
def test_an_invalid_pool_change_is_reported_at_its_field(
    mara: Client, network: factories.Network, changes: dict[str, str], field: str, said: str
) -> None:
    response = mara.post(f"/addresses/{network.public.pk}/edit/", build_form(network, name="New name", **changes))
    assert response.status_code == 422
    assert said in str(response.context["form"].errors[field])
    assert Pool.objects.get(pk=network.public.pk).name != "New name"


def test_blocks_that_members_have_keep_their_size(mara: Client, network: factories.Network) -> None:
    blocks(network)
    response = mara.post(f"/addresses/{network.public.pk}/edit/", build_form(network, sharing="blocks", block_size="2048"))
    assert "4 members have blocks of 1,024 ports of this pool." in str(response.context["form"].errors["block_size"])


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_ways_of_sharing_are_refused(mara: Client, network: factories.Network, value: str) -> None:
    new = {"name": "New", "kind": "public4", "prefix": "192.0.2.0/28", "member_length": 64, "group": network.group.pk, "sharing": "own"}
    for field in ("sharing", "block_size"):
        assert mara.post(f"/addresses/{network.public.pk}/edit/", build_form(network, **{field: value})).status_code == 422
        assert mara.post("/addresses/add/", new | {field: value}).status_code == 422


@pytest.mark.parametrize(("chosen", "sharing"), [("", "own"), ("shared", "shared")])
def test_a_new_pool_is_used_as_was_chosen(mara: Client, network: factories.Network, chosen: str, sharing: str) -> None:
    new = {"name": "New", "kind": "public4", "prefix": "192.0.2.0/28", "member_length": 64, "group": network.group.pk, "sharing": chosen}
    assert mara.post("/addresses/add/", new).status_code == 302
    assert Pool.objects.get(name="New").sharing == sharing


def test_a_private_pool_is_asked_nothing_about_sharing(mara: Client, network: factories.Network) -> None:
    assert "sharing" not in text(mara.get(f"/addresses/{network.private.pk}/edit/"))


def test_a_members_page_says_with_which_ports_he_leaves(mara: Client, network: factories.Network) -> None:
    blocks(network)
    page = text(mara.get(f"/members/{network.residents['m2'].member.pk}/"))
    assert "198.51.100.7, ports 2048–3071" in page
    assert "ports 2048–3071</span>" in page


def test_a_members_page_says_that_an_address_stays_inside(mara: Client, network: factories.Network) -> None:
    unmap_address(mapping=network.residents["m2"].mapping, by=network.admin)
    page = text(mara.get(f"/members/{network.residents['m2'].member.pk}/"))
    assert "nothing: stays inside" in page
    assert "Over IPv4 this member reaches other members and the network itself, not the internet." in page


def test_an_address_is_given_from_a_chosen_pool_or_refused_at_its_field(mara: Client, network: factories.Network) -> None:
    narrow = factories.pool(network.group, "public4", "192.0.2.64/32", sharing="own")
    for name in ("First", "Second"):
        who = factories.member(name)
        data = {"hold-pool": network.private.pk, "hold-prefix": "", "hold-leaves": f"next {narrow.pk}"}
        response = mara.post(f"/members/{who.pk}/addresses/add/", data, headers=HTMX)
        mapped = NatMapping.objects.filter(is_valid_now(), pool=narrow, holding__member=who)
        assert mapped.exists() == (name == "First")
    assert response.status_code == 422
    assert "Nothing is free in public4 192.0.2.64/32" in text(response)
    assert not who.holdings.exists()


def test_who_had_a_port_of_a_shared_address_is_one_member(mara: Client, network: factories.Network) -> None:
    blocks(network)
    at = timezone.now().isoformat()
    page = text(mara.post("/addresses/held/", {"address": "198.51.100.7", "port": "2048", "at": at, "reason": "abuse"}))
    assert "Resident of m2" in page
    assert "was the only member with port 2048 of 198.51.100.7" in page
    assert "Resident of m1" not in page
    groups = {group.title: [hit.name for hit in group.hits] for group in mara.get("/search?q=198.51.100.7:2048").context["groups"]}
    assert groups["Members with this public address"] == ["Resident of m2"]


def test_a_script_lets_an_address_leave_and_stay_inside(api: Client, network: factories.Network) -> None:
    blocks(network)
    holding = factories.make_holding(factories.member("New"), network.private, "10.16.1.1/32")

    def post(**body: object) -> Any:
        return api.post("/api/nat/mappings/", {"holding": holding.pk, **body}, content_type="application/json")

    made = post()
    assert made.status_code == 201, made.json()
    said = made.json()
    assert (said["public_address"], said["sharing"], said["first_port"], said["last_port"]) == ("198.51.100.1", "blocks", 1024, 2047)
    assert said["active"] == [{"gateway": name, "since": None, "waits": ""} for name in ("nat-1", "nat-2")]
    path = f"/api/nat/mappings/{said['id']}/"
    assert api.get(path).json() == said
    assert [each["id"] for each in api.get("/api/nat/mappings/?public_address=198.51.100.1").json()["results"]] == [said["id"]]
    assert api.delete(path).status_code == 204
    assert api.get(path).status_code == 404
    change_sharing(pool=network.public, sharing="own", block_size=None, by=network.admin)
    refused = post(public_address="198.51.100.7")
    assert refused.status_code == 400
    assert "Resident of m1 has it, or ports of it" in wrong(refused)["public_address"][0]


@pytest.mark.parametrize("query", ["public_address=x", "member=x", "pool=x", "holding=x", "public_address=%00"])
def test_what_cannot_be_asked_for_is_refused(api: Client, network: factories.Network, query: str) -> None:
    assert api.get(f"/api/nat/mappings/?{query}").status_code == 400


def test_an_address_that_is_none_is_refused_where_addresses_are_asked_for(api: Client) -> None:
    assert api.get("/api/network/addresses/?address=x").status_code == 400
    assert api.get("/api/network/addresses/?address=10.16.0.10").json()["count"] == 1


@pytest.mark.parametrize(
    ("sharing", "size", "share"), [("own", None, "one address"), ("shared", None, "shared"), ("blocks", 1024, "1,024 ports")]
)
def test_the_list_of_pools_says_what_a_member_has_of_each(
    mara: Client, network: factories.Network, sharing: str, size: int | None, share: str
) -> None:
    Pool.objects.filter(pk=network.public.pk).update(sharing=sharing, block_size=size)
    page = text(mara.get(reverse("network:addresses")))
    row = page[page.index(f'href="{reverse("network:pool", args=[network.public.pk])}"') :]
    assert f"<td>{share}</td>" in row[: row.index("</tr>")], row[:800]


def test_a_script_sees_how_full_a_public_pool_is_and_changes_how_it_is_shared(api: Client, network: factories.Network) -> None:
    path = f"/api/network/pools/{network.public.pk}/"
    used = NatMapping.objects.filter(is_valid_now(), pool=network.public).values("public").distinct().count()
    before = api.get(path).json()
    assert before["held"] == used > 0
    changed = api.patch(path, {"sharing": "blocks", "block_size": 1024, "version": before["version"]}, content_type="application/json")
    assert (changed.status_code, changed.json()["sharing"], changed.json()["block_size"]) == (200, "blocks", 1024), changed.content
    assert set(NatMapping.objects.filter(is_valid_now(), pool=network.public).values_list("sharing", flat=True)) == {"blocks"}
    again = api.patch(path, {"sharing": "shared"}, content_type="application/json").json()
    assert (again["sharing"], again["block_size"]) == ("shared", None)
    assert list(wrong(api.patch(path, {"sharing": "blocks", "block_size": 1000}, content_type="application/json"))) == ["block_size"]
    assert list(wrong(api.patch(path, {"kind": "private4"}, content_type="application/json"))) == ["kind"]
    private = api.get(f"/api/network/pools/{network.private.pk}/").json()
    assert private["held"] == len(network.residents)
