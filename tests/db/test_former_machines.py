"""A machine that is back behind a gateway, or behind another one, after it was replaced: nothing of what it counted is counted twice."""

import pytest

from apps.network.models import Gateway
from apps.traffic.counter_collection import draw_ticket, record_reading
from firewall.wire import Reading
from tests import factories
from tests.counter_factories import make_gone, reading
from tests.db.test_collection import m1, minute, up_and_down
from tests.db.test_gateway_lifecycle import reach_by_ssh, replace, undo

pytestmark = pytest.mark.django_db


def read_counters(name: str, at: float, read: Reading) -> None:
    gateway = Gateway.ever.get(name=name)
    record_reading(gateway=gateway, ticket=draw_ticket(gateway), reading=read, at=minute(at))


def test_an_undo_of_a_replacement_counts_on_where_the_machine_stood(network: factories.Network) -> None:
    four, _six = m1(network)
    reach_by_ssh("nat-1")
    ended = make_gone(1, up4={four: (1, 300)})
    read_counters("nat-1", 1, reading(1, ended, up4={four: (1, 1000)}))
    undo(network, replace("nat-1"))
    read_counters("nat-1", 2, reading(2, ended, up4={four: (2, 1500)}))
    assert up_and_down(network) == (1800, 0)
    read_counters("nat-1", 3, reading(1, log="begun anew", up4={four: (3, 1600)}))
    assert up_and_down(network) == (1900, 0), "it is no new machine, and its counters stand where they stood"


def test_a_machine_that_is_back_after_another_was_read_counts_nothing_twice(network: factories.Network) -> None:
    four, _six = m1(network)
    reach_by_ssh("nat-1")
    read_counters("nat-1", 1, reading(1, up4={four: (1, 1000)}))
    replaced = replace("nat-1")
    read_counters("nat-1", 2, reading(1, boot="other", log="other", up4={four: (1, 300)}))
    undo(network, replaced)
    read_counters("nat-1", 3, reading(2, up4={four: (2, 1500)}))
    assert up_and_down(network) == (1300, 0), "its first reading is where counting begins"
    read_counters("nat-1", 4, reading(3, up4={four: (3, 1600)}))
    assert up_and_down(network) == (1400, 0)
    replace("nat-1")
    for sequence, octets in ((2, 350), (3, 400)):
        read_counters("nat-1", 3 + sequence, reading(sequence, boot="other", log="other", up4={four: (sequence, octets)}))
    assert up_and_down(network) == (1450, 0)


@pytest.mark.parametrize(("is_other_read_before", "expected"), [(False, 1900), (True, 1400)])
def test_a_replaced_machine_that_joins_as_another_gateway_counts_nothing_twice(
    network: factories.Network, is_other_read_before: bool, expected: int
) -> None:
    four, _six = m1(network)
    reach_by_ssh("nat-1")
    read_counters("nat-1", 1, reading(1, up4={four: (1, 1000)}))
    replace("nat-1")
    factories.gateway(network.group, "nat-3")
    of_new = [("nat-1", reading(1, boot="other", log="other", up4={four: (1, 300)}))]
    of_old = [("nat-3", reading(2, up4={four: (2, 1500)})), ("nat-3", reading(3, up4={four: (3, 1600)}))]
    for at, (name, read) in enumerate(of_new + of_old if is_other_read_before else of_old + of_new, 2):
        read_counters(name, at, read)
    assert up_and_down(network) == (expected, 0)


def test_a_new_machine_counts_from_zero_even_on_the_kernel_of_the_old_one(network: factories.Network) -> None:
    four, _six = m1(network)
    reach_by_ssh("nat-1")
    read_counters("nat-1", 1, reading(1, up4={four: (1, 1000)}))
    replace("nat-1")
    read_counters("nat-1", 2, reading(1, log="another", up4={four: (2, 1300)}))
    assert up_and_down(network) == (2300, 0)
