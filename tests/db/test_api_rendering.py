"""The prepared rendering of the API gives what REST framework's own rendering gives, and rows loaded directly behave as Django's."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import models
from django.db.models.base import Model
from django.utils import timezone
from rest_framework.serializers import Serializer
from rest_framework.test import APIRequestFactory

from apps.bans import services as bans
from apps.bans.api import BanSerializer
from apps.bans.models import Ban
from apps.lib.api.serializers import ApiSerializer
from apps.members.api import MemberSerializer
from apps.members.models import Member
from apps.nat.api import ForwardSerializer
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.network.api import HoldingSerializer
from apps.network.models import Holding
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def network() -> factories.Network:
    """A network with a forward and two bans: one for ever, and one with an end in summer time."""
    made = factories.network()
    add_forward(
        holding=made.residents["m1"].holding, public=factories.PUBLIC, protocol="udp", public_port=51820, private_port=51820, by=made.admin
    )
    own = bans.create_list(name="Own", by=made.admin)
    bans.ban_prefix(list=own, prefix="203.0.113.66", author=made.admin)
    bans.ban_prefix(list=own, prefix="2001:db8:bad::/48", expires=datetime(2031, 7, 1, 12, tzinfo=UTC), author=None)
    return made


SHOWN: list[tuple[type[ApiSerializer], type[Model]]] = [
    (ForwardSerializer, PortForward),
    (BanSerializer, Ban),
    (HoldingSerializer, Holding),
    (MemberSerializer, Member),
]


@pytest.mark.parametrize(("serializer", "model"), SHOWN)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata"])
def test_rows_are_shown_as_rest_framework_shows_them(
    network: factories.Network, serializer: type[ApiSerializer], model: type[Model], zone: str
) -> None:
    rows, context = list(model._default_manager.order_by("pk")), {"request": APIRequestFactory().get("/")}
    with timezone.override(zone):
        made: Any = serializer(context=context)
        plain = [dict(Serializer.to_representation(made, row)) for row in rows]
        assert rows and [ApiSerializer.to_representation(made, row) for row in rows] == plain


@pytest.mark.parametrize("shown", [["id"], ["until", "id"], []])
def test_only_the_fields_that_are_asked_for_are_shown(network: factories.Network, shown: list[str]) -> None:
    row = BanSerializer(Ban.objects.first(), context={"shown": shown}).data
    assert set(row) == set(shown)


def test_a_row_that_is_loaded_directly_is_that_of_djangos_constructor(network: factories.Network) -> None:
    row = PortForward.objects.get()
    built = models.Model.from_db.__func__(PortForward, "default", [f.attname for f in PortForward._meta.concrete_fields], [  # type: ignore[attr-defined]
        getattr(row, f.attname) for f in PortForward._meta.concrete_fields
    ])  # fmt: skip
    own, theirs = ({name: value for name, value in vars(each).items() if name != "_state"} for each in (row, built))
    assert own == theirs and row == built and hash(row) == hash(built)
    assert (row._state.adding, row._state.db) == (built._state.adding, built._state.db)


def test_a_column_that_was_not_read_is_read_when_it_is_asked_for(network: factories.Network) -> None:
    row = PortForward.objects.only("public").get()
    assert row.get_deferred_fields() == {field.attname for field in PortForward._meta.concrete_fields} - {"id", "public"}
    assert (row.public_port, row.holding.member.name) == (51820, "Resident of m1")
    PortForward.objects.update(purpose="VPN")
    row.refresh_from_db()
    assert row.purpose == "VPN"
    row.purpose = "WireGuard"
    row.save(update_fields=["purpose"])
    assert PortForward.objects.get().purpose == "WireGuard"
