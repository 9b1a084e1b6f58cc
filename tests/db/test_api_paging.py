"""Pages of a list together are the list: each object once, in the requested order, whatever was skipped to get there."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from psycopg.types.range import Range

from apps.accounts import tokens
from apps.deployments.services import reconcile
from apps.lib.api.filters import list_orderings
from apps.lib.api.viewsets import ReadViewSet, compile_pages, select_columns
from apps.lib.database.validity import build_validity_index, is_valid_now
from apps.nat.api import ForwardViewSet
from apps.nat.models import PortForward
from portal.api import router
from tests import factories
from tests.db.example_objects import one_of_each
from tests.db.row_descriptions import describe_row

FORWARDS = "/api/nat/forwards/"
FILTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing": ("", {}),
    "a column": ("protocol=tcp", {"protocol": "tcp"}),
    "a joined table": ("private_address__net_within=10.0.0.0/8", {"holding__prefix__within": "10.0.0.0/8"}),
    "a port": ("public_port__gte=1100", {"public_port__gte": 1100}),
    "times": ("until__isnull=0&enabled=1", {"valid__endswith__isnull": False, "enabled": True}),
}


@pytest.fixture
def api(network: factories.Network) -> Client:
    """A client whose token may do everything."""
    return Client(headers={"authorization": f"Bearer {tokens.create_token(user=network.admin, name='script')[1]}"})


def add_random_forwards(network: factories.Network, random: Random, number: int) -> None:
    """Add forwards, of which some have ended, some begin later and some will end, in a random order of ports."""
    residents, ports = list(network.residents.values()), random.sample(range(1024, 1024 + 2 * number), number)
    moment = timedelta(microseconds=1)

    def build(port: int) -> PortForward:
        of = random.choice(residents)
        begin = of.holding.valid.lower
        spans = ((begin, None), (begin, begin + timedelta(days=9)), (begin, begin + moment), (begin + timedelta(days=1), None))
        return PortForward(
            holding=of.holding,
            group_id=of.holding.group_id,
            held=of.holding.valid,
            pool=network.public,
            pool_prefix=network.public.prefix,
            public=of.mapping.public,
            protocol=random.choice(["tcp", "udp"]),
            public_port=port,
            private_port=random.randint(1, 4),
            enabled=random.random() < 0.5,
            valid=Range(*random.choice(spans)),
        )

    PortForward.objects.bulk_create(map(build, ports))


def list_plainly(wanted: dict[str, Any], order: list[str]) -> QuerySet[PortForward, int]:
    """Return the ids of the list by nothing but WHERE and ORDER BY."""
    paths = {name: getattr(each, "also", None) or each for name, each in ForwardViewSet.filters.items()}
    columns = [f"{'-' * name.startswith('-')}{paths[name.removeprefix('-')].path}" for name in order]  # type: ignore[union-attr]  # all have a column
    return PortForward.objects.filter(is_valid_now(), **wanted).order_by(*columns, "pk").values_list("pk", flat=True)


@pytest.mark.parametrize("seed", range(3))
def test_a_page_is_what_limit_and_offset_cut_out(network: factories.Network, api: Client, seed: int) -> None:
    random = Random(seed)
    add_random_forwards(network, random, 120)
    orderings = list_orderings(ForwardViewSet.filters)
    for query, wanted in FILTERS.values():
        for _each in range(6):
            order = [random.choice(["", "-"]) + name for name in random.sample(orderings, random.randint(0, 3))]
            offset, limit = random.randint(0, 110), random.randint(1, 40)
            rows = list(list_plainly(wanted, order))
            ordering = f"&ordering={','.join(order)}" if order else ""
            page = api.get(f"{FORWARDS}?{query}&limit={limit}&offset={offset}{ordering}").json()
            assert [row["id"] for row in page["results"]] == rows[offset : offset + limit], (query, order)
            assert page["count"] == len(rows)


def test_pages_together_have_each_object_once(network: factories.Network, api: Client) -> None:
    add_random_forwards(network, Random(9), 100)
    for order in ("", "protocol", "-private_port,enabled"):
        seen, path = list[int](), f"{FORWARDS}?limit=7{f'&ordering={order}' if order else ''}"
        while path:
            page = api.get(path).json()
            seen += [row["id"] for row in page["results"]]
            path = page["next"]
        assert seen == list(list_plainly({}, order.split(",") if order else []))


def test_compiled_pages_of_each_collection_are_its_rows(served_network: factories.Network) -> None:
    one_of_each(served_network)
    assert reconcile(served_network.group)
    views: list[Any] = [view for _prefix, view, _name in router.registry if issubclass(view, ReadViewSet)]
    known = [(view, pages) for view in views if (pages := compile_pages(view))]
    assert ForwardViewSet in dict(known) and len(known) > 20
    for view, pages in known:
        rows = [describe_row(row) for row in select_columns(view.queryset.all(), view.columns)]
        assert pages.count() == len(rows)
        for offset, limit in ((0, 1), (0, 50), (1, 3), (len(rows), 5)):
            assert [describe_row(row) for row in pages.read(offset, limit)] == rows[offset : offset + limit], view


def test_a_limited_token_has_pages_of_its_own_objects_alone(network: factories.Network) -> None:
    add_random_forwards(network, Random(4), 60)
    member = network.residents["m1"].member
    key = tokens.create_token(user=network.admin, name="one", member=member.pk)[1]
    page = Client(headers={"authorization": f"Bearer {key}"}).get(f"{FORWARDS}?limit=50").json()
    assert [row["id"] for row in page["results"]] == list(list_plainly({"holding__member": member}, []))[:50]
    assert {row["member"] for row in page["results"]} == {member.pk}


def test_what_is_skipped_in_a_list_by_validity_is_counted_off_in_an_index() -> None:
    views: list[Any] = [view for _prefix, view, _name in router.registry]
    models = {view.serializer_class.Meta.model for view in views if hasattr(getattr(view.serializer_class, "Meta", None), "model")}
    timed = [model for model in models if "valid" in {field.name for field in model._meta.concrete_fields}]
    assert PortForward in timed and len(timed) >= 6
    for model in timed:
        assert build_validity_index(f"{model._meta.model_name}_valid_by_id") in model._meta.indexes, model
