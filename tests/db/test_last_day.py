"""The last day of a port forward or pinhole, in the forms of its pages."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from apps.nat.forms import ForwardForm
from apps.nat.models import PortForward
from apps.nat.pinholes.forms import PinholeForm
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from tests import factories
from tests.db.page_client import signed_in, text

type Made = PortForward | Pinhole
type Make = Callable[[factories.Network, datetime | None], Made]


def forward(network: factories.Network, until: datetime | None) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(
        holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, until=until, by=network.admin
    )


def pinhole(network: factories.Network, until: datetime | None) -> Pinhole:
    prefix = network.residents["m1"].prefix
    address = prefix.prefix.network_address + 0x10
    return add_pinhole(holding=prefix, address=address, protocol="tcp", port=443, until=until, by=network.admin)


def read_form(made: Made) -> dict[str, Any]:
    """Return the initial values of the edit form, as a browser sends them."""
    member = made.holding.member
    if isinstance(made, PortForward):
        return {f"forward-{name}": value for name, value in ForwardForm(member, forward=made).initial.items()}
    return {f"pinhole-{name}": value for name, value in PinholeForm(member, pinhole=made).initial.items()}


def path(made: Made) -> str:
    return f"/{'forwards' if isinstance(made, PortForward) else 'pinholes'}/{made.pk}/edit/"


def build_field_name(made: Made, name: str) -> str:
    return f"{'forward' if isinstance(made, PortForward) else 'pinhole'}-{name}"


def end_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


both = pytest.mark.parametrize("make", [forward, pinhole])


@both
def test_an_end_can_be_given_changed_and_taken_away(make: Make, network: factories.Network, staff: Client) -> None:
    made, day = make(network, None), timezone.localdate() + timedelta(days=3)
    assert staff.post(path(made), read_form(made) | {build_field_name(made, "until"): day.isoformat()}).status_code == 302
    made.refresh_from_db()
    assert made.valid.upper == end_of(day)
    with translation.override("de"):
        assert f'value="{day.isoformat()}"' in text(staff.get(path(made)))

    assert staff.post(path(made), read_form(made) | {build_field_name(made, "until"): ""}).status_code == 302
    made.refresh_from_db()
    assert made.valid.upper is None


@both
def test_an_end_within_a_day_stays_to_the_second_when_something_else_is_changed(
    make: Make, network: factories.Network, staff: Client
) -> None:
    until = timezone.now() + timedelta(days=3, minutes=7)
    made = make(network, until)
    assert staff.post(path(made), read_form(made) | {build_field_name(made, "purpose"): "wiki"}).status_code == 302
    made.refresh_from_db()
    assert (made.purpose, made.valid.upper) == ("wiki", until)


@both
def test_a_day_that_is_over_is_refused_at_its_field(make: Make, network: factories.Network, staff: Client) -> None:
    made = make(network, None)
    page = staff.post(path(made), read_form(made) | {build_field_name(made, "until"): "2001-01-01"})
    assert page.status_code == 422 and "This day is in the past." in text(page)
    made.refresh_from_db()
    assert made.valid.upper is None


def test_a_forward_that_is_added_with_a_last_day_ends_with_it_and_its_panel_says_so(network: factories.Network, staff: Client) -> None:
    holding, day = network.residents["m1"].holding, timezone.localdate() + timedelta(days=3)
    given = {"protocol": "tcp", "public_port": "8443", "holding": holding.pk, "public": str(factories.PUBLIC), "until": day.isoformat()}
    answer = staff.post(
        f"/members/{holding.member_id}/forwards/add/",
        {f"forward-{name}": value for name, value in given.items()},
        headers={"HX-Request": "true"},
    )
    assert answer.status_code == 200 and "ends on" in text(answer)
    assert PortForward.objects.get().valid.upper == end_of(day)
