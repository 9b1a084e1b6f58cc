"""A gateway's readings become usage in the database, each reading once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.bans.models import BanHits
from apps.network.models import Holding
from apps.traffic import counter_collection
from apps.traffic.counter_collection import ReadingOutcome, draw_ticket, record_reading
from apps.traffic.models import Collected, Coverage, FiveMinutes, LastCounts
from apps.traffic.selectors import get_all_time_usage, list_throughput
from firewall.wire import Counts, Gone, Reading
from tests import factories
from tests.counter_factories import counts, make_gone, reading
from tests.db.page_client import text
from tests.example_counts import count_examples

pytestmark = pytest.mark.django_db

START = datetime(2050, 1, 1, 12, tzinfo=UTC)
M1, M1_PREFIX = "10.16.0.10", "2001:db8:a0:10::/64"


def minute(number: float) -> datetime:
    return START + timedelta(minutes=number)


def take(network: factories.Network, *readings: Reading, gateway: int = 0, first: int = 0) -> list[ReadingOutcome]:
    """Record the readings one minute apart, each with a ticket of its own."""
    of = network.gateways[gateway]
    return [record_reading(gateway=of, ticket=draw_ticket(of), reading=each, at=minute(at)) for at, each in enumerate(readings, first)]


def m1(network: factories.Network) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the elements of m1's address and prefix."""
    resident = network.residents["m1"]
    return (M1, resident.holding.pk), (M1_PREFIX, resident.prefix.pk)


def up_and_down(network: factories.Network, resident: str = "m1") -> tuple[int, int]:
    total = get_all_time_usage(network.residents[resident].member)
    return total.up, total.down


def test_both_families_and_both_gateways_add_up_and_a_silent_member_has_no_row(network: factories.Network) -> None:
    four, six = m1(network)
    take(network, reading(1, up4={four: (1, 1000)}, down4={four: (2, 20)}))
    take(network, reading(1, up6_64={six: (1, 500)}, down6_64={six: (1, 5)}), gateway=1)
    assert up_and_down(network) == (1500, 25)
    assert get_all_time_usage(network.residents["m2"].member).since is None
    assert FiveMinutes.objects.count() == 2
    carried = list_throughput([each.pk for each in network.gateways], START, minute(5), timedelta(minutes=5))
    assert [(each.family, each.octets, each.packets) for each in carried] == [(4, (1000, 20), (1, 2)), (6, (500, 5), (1, 1))]


def test_a_ticket_that_was_drawn_before_one_that_is_written_down_is_worth_nothing(network: factories.Network) -> None:
    four, _ = m1(network)
    nat_1 = network.gateways[0]
    slow = draw_ticket(nat_1)
    take(network, reading(1, boot="other", up4={four: (1, 100)}))
    late = reading(9, up4={four: (9, 900)})
    assert record_reading(gateway=nat_1, ticket=slow, reading=late, at=minute(1)) is ReadingOutcome.OLD
    assert up_and_down(network) == (100, 0)


def test_an_address_that_changes_hands_bills_nobody_for_another(network: factories.Network) -> None:
    former, latter = network.residents["m1"].holding, network.residents["m2"].prefix
    handed = make_gone(1, up4={(M1, former.pk): (4, 400)})
    take(network, reading(1, up4={(M1, former.pk): (1, 100)}), reading(2, handed, up4={(M1, latter.pk): (1, 7)}))
    assert (up_and_down(network), up_and_down(network, "m2")) == ((400, 0), (7, 0))


def test_who_says_no_owner_is_known_by_who_holds_the_address_and_nobody_pays_for_what_nobody_holds(network: factories.Network) -> None:
    take(
        network,
        reading(
            1, up4={(M1, 0): (1, 100), ("10.16.77.77", 0): (1, 1)}, up6_64={(M1_PREFIX, 0): (1, 50), ("2001:db8::/64", 987_654): (1, 1)}
        ),
    )
    assert up_and_down(network) == (150, 0)
    state = Collected.objects.get(gateway=network.gateways[0])
    assert (state.nobodys, state.nobodys_first) == (2, "10.16.77.77/32")


def test_what_a_gateway_cannot_have_carried_is_refused_whole_until_a_person_says_otherwise(
    network: factories.Network, settings: LazySettings, client: Client
) -> None:
    settings.LINE_MBITS, settings.COLLECT_SECONDS = 1, 60.0
    four, _ = m1(network)
    absurd = 10**12
    assert take(network, reading(1, up4={four: (1, 100)}), reading(2, up4={four: (2, absurd)})) == [
        ReadingOutcome.WRITTEN,
        ReadingOutcome.REFUSED,
    ]
    assert take(network, reading(1, up4={four: (1, 5)}), gateway=1) == [ReadingOutcome.WRITTEN]
    assert up_and_down(network) == (105, 0)
    client.force_login(network.admin)
    page = text(client.get(f"/gateways/{network.gateways[0].pk}/"))
    assert "have been rejected since" in page and "no more than" in page and "is then not counted" in page
    call_command("traffic", "accept", "nat-1", stdout=StringIO())
    assert (
        take(network, reading(3, up4={four: (3, absurd + 7)}), reading(4, up4={four: (4, absurd + 9)}), first=2)
        == [ReadingOutcome.WRITTEN] * 2
    )
    assert up_and_down(network) == (107, 0)
    assert "have been rejected" not in text(client.get(f"/gateways/{network.gateways[0].pk}/"))


def test_what_passed_in_a_long_silence_counts_though_the_clock_was_set_back(network: factories.Network, settings: LazySettings) -> None:
    settings.LINE_MBITS, settings.COLLECT_SECONDS = 8, 60.0  # 60 MB a minute
    four, _ = m1(network)
    nat_1 = network.gateways[0]
    take(network, reading(1, up4={four: (1, 100)}))
    for _silent in range(99):
        draw_ticket(nat_1)
    assert take(network, reading(2, up4={four: (2, 6_200_000_000)}), first=-99) == [ReadingOutcome.REFUSED]
    assert take(network, reading(3, up4={four: (2, 6_000_000_000)}), first=-98) == [ReadingOutcome.WRITTEN]
    assert take(network, reading(4, up4={four: (3, 6_200_000_000)}), first=-97) == [ReadingOutcome.REFUSED]
    assert up_and_down(network) == (6_000_000_000, 0)


@pytest.mark.parametrize("spoiled", [Counts(1, b"\1\2\3", b"\0" * 8, b"\0" * 8, b""), Counts(1, b"\1\2\3\4", b"\0" * 8, b"\xff" * 8, b"")])
def test_a_reading_that_is_none_changes_nothing_and_is_told(network: factories.Network, spoiled: Counts) -> None:
    four, _ = m1(network)
    assert take(network, reading(1, up4={four: (1, 100)}), Reading("boot", 1, "log", 2, 0, {"up4": spoiled}, (), {})) == [
        ReadingOutcome.WRITTEN,
        ReadingOutcome.REFUSED,
    ]
    assert take(network, reading(3, up4={four: (2, 300)}), first=2) == [ReadingOutcome.WRITTEN]
    assert up_and_down(network) == (300, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sets": {"up4": counts({(M1, 1): (1 << 62, 1 << 62)})}}, "no more than"),
        ({"sets": {"up4": counts({(M1, 1): (200, 100)})}}, "200 packets of 100 octets"),
        ({"sets": {"nonsense4": counts({(M1, 1): (1, 1)})}}, "not a set with counters"),
        ({"sequence": 1 << 63}, "the database cannot hold it"),
        ({"boot": "b" * 1000}, "the database cannot hold it"),
        ({"log": "l\0g"}, "the database cannot hold it"),
        ({"gone": (make_gone(1 << 64, up4={(M1, 1): (1, 1)}),)}, "the database cannot hold it"),
        ({"sets": {"bans4_32": counts({("203.0.113.7", 0): (1, (1 << 63) - 1)})}, "table": 1 << 63}, "the database cannot hold it"),
    ],
)
@pytest.mark.parametrize("known", [False, True])
def test_whatever_a_gateway_says_it_is_refused_whole_and_named_and_the_next_right_one_counts(
    network: factories.Network, changes: dict[str, Any], words: str, known: bool
) -> None:
    four, _ = m1(network)
    begun = [reading(1, up4={four: (1, 100)})] if known else []
    wrong = replace(reading(2, up4={four: (2, 200)}), **changes)
    assert take(network, *begun, wrong, wrong) == [ReadingOutcome.WRITTEN] * len(begun) + [ReadingOutcome.REFUSED] * 2
    state = Collected.objects.get(gateway=network.gateways[0])
    assert (words in state.refused, state.refused_at) == (True, minute(len(begun))), "what is wrong, and since when"
    assert take(network, reading(1, up4={four: (1, 50)}), gateway=1) == [ReadingOutcome.WRITTEN]
    assert take(network, reading(3, up4={four: (3, 300)}), first=9) == [ReadingOutcome.WRITTEN]
    assert up_and_down(network) == (350, 0)
    state.refresh_from_db()
    assert (state.refused, state.refused_at) == ("", None)


def test_a_reading_whose_number_was_wrong_does_not_hide_all_that_come_after_it(network: factories.Network, client: Client) -> None:
    four, _ = m1(network)
    nat_1 = network.gateways[0]
    assert take(network, reading(1 << 40, up4={four: (1, 100)}), reading(2, up4={four: (2, 200)})) == [
        ReadingOutcome.WRITTEN,
        ReadingOutcome.OLD,
    ]
    assert take(network, reading(7, up4={four: (7, 700)}), first=6) == [ReadingOutcome.REFUSED]
    client.force_login(network.admin)
    assert "reading 7, and reading 1099511627776" in text(client.get(f"/gateways/{nat_1.pk}/"))
    again = client.post(f"/gateways/{nat_1.pk}/count-again/", follow=True)
    assert "Counting restarts" in text(again)
    assert take(network, reading(8, up4={four: (8, 800)}), reading(9, up4={four: (9, 900)}), first=8) == [ReadingOutcome.WRITTEN] * 2
    assert up_and_down(network) == (200, 0)


def test_hits_of_bans_are_counted_over_a_boot_that_passes_the_old_value(network: factories.Network) -> None:
    ban = ("203.0.113.7", 0)
    take(network, reading(1, bans4_32={ban: (2, 120)}), reading(1, boot="other", bans4_32={ban: (3, 180)}))
    hits = BanHits.objects.get()
    assert (hits.packets, hits.octets, hits.last_hit) == (5, 300, minute(1))


def test_a_pause_is_a_gap_that_says_whether_anything_was_lost(network: factories.Network) -> None:
    four, _ = m1(network)
    nat_1 = network.gateways[0]
    for sequence, at, boot in ((1, 0, "boot"), (2, 1, "boot"), (3, 60, "boot"), (1, 62, "other")):
        record_reading(
            gateway=nat_1, ticket=draw_ticket(nat_1), reading=reading(sequence, boot=boot, up4={four: (sequence, sequence)}), at=minute(at)
        )
    stretches = [(row.since, row.until, row.carried) for row in Coverage.objects.order_by("since")]
    assert stretches == [(minute(0), minute(1), False), (minute(60), minute(60), True), (minute(62), minute(62), False)]


def test_what_left_the_reading_leaves_the_baseline_too(network: factories.Network) -> None:
    four, _ = m1(network)
    take(network, reading(1, up4={four: (1, 100)}, down4={four: (1, 1)}), reading(2, up4={four: (2, 200)}))
    assert [row.set for row in LastCounts.objects.all()] == ["up4"]
    assert draw_ticket(network.gateways[0]).request.log == "log"


def test_how_long_usage_is_kept_can_be_seen_and_changed_within_reason(db: None) -> None:
    said = StringIO()
    call_command("setting", "set", "keep_hours_days", "30", stdout=said)
    call_command("traffic", "levels", stdout=said)
    assert "hour            30 days, complete until" in said.getvalue()
    with pytest.raises(CommandError, match="from 7 to 400"):
        call_command("setting", "set", "keep_hours_days", "1", stdout=said)


STEPS = st.lists(
    st.tuples(st.sampled_from(["pass", "again", "late", "boot", "hand over", "clock back"]), st.integers(1, 1000)), min_size=1, max_size=10
)


@given(STEPS)
@settings(max_examples=count_examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_the_sum_of_each_holder_is_what_was_read_of_him(network: factories.Network, steps: list[tuple[str, int]]) -> None:
    """Draws everything that may happen to readings of one address that two members hold in turn."""
    for model in (Collected, LastCounts, FiveMinutes, Coverage):
        model.objects.all().delete()
    holders = [network.residents["m1"].holding.pk, network.residents["m2"].holding.pk]
    nat_1, boot, counter, at = network.gateways[0], 0, 0, 0
    passed, ended, sequence = dict.fromkeys(holders, 0), 0, 0
    last: tuple[counter_collection.ReadingTicket, Reading] | None = None
    for what, octets in steps:
        at += -3 if what == "clock back" else 1
        if what in ("again", "late") and last:
            record_reading(gateway=nat_1, ticket=last[0], reading=last[1], at=minute(at))
            continue
        final: tuple[Gone, ...] = ()
        if what == "boot":
            boot, counter = boot + 1, 0
        elif what == "hand over" and counter:
            ended += 1
            final = (make_gone(ended, boot=f"{boot}", up4={(M1, holders[0]): (counter, counter)}),)
            holders.reverse()
            counter = 0
        counter, sequence = counter + octets, sequence + 1
        passed[holders[0]] += octets
        last = draw_ticket(nat_1), reading(sequence, *final, boot=f"{boot}", up4={(M1, holders[0]): (counter, counter)})
        record_reading(gateway=nat_1, ticket=last[0], reading=last[1], at=minute(at))
    found = {pk: sum(FiveMinutes.objects.filter(holding_id=pk).values_list("up_octets", flat=True)) for pk in holders}
    assert found == passed
    assert Holding.objects.filter(pk__in=holders).count() == 2
