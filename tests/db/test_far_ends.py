"""Days and times that are too far in the future or the past are refused with a sentence."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.utils import timezone

from apps.bans import allow_list, services, undo
from apps.bans.blocks.services import block_member
from apps.lib.errors import Problem
from apps.members.departures import plan_departure
from apps.members.models import Departure
from apps.nat.moving.services import plan_member_move as plan_member_move
from apps.nat.pinholes.models import Pinhole
from apps.traffic.rates.services import limit_member
from tests import factories
from tests.db.page_client import signed_in, text

FAR = datetime(9999, 12, 31, 12, tzinfo=UTC)
WORDS = "That is too far away. Choose a time before the year 2200, or none."


def read_refusal(do: Any) -> tuple[str, str]:
    with pytest.raises(Problem) as caught:
        do()
    return str(caught.value), caught.value.fieldname


def test_no_ban_block_or_limit_ends_in_the_year_9999(network: factories.Network) -> None:
    admin, member = network.admin, network.residents["m1"].member
    own = services.create_list(name="Own", by=admin)
    assert read_refusal(lambda: services.ban_prefix(list=own, prefix="203.0.113.66", expires=FAR, author=admin)) == (WORDS, "expires")
    assert read_refusal(lambda: allow_list.allow_prefix(prefix="203.0.113.66", expires=FAR, author=admin)) == (WORDS, "expires")
    assert read_refusal(lambda: undo.set_ban_ends(bans=[], expires=FAR, by=admin)) == (WORDS, "until")
    assert read_refusal(lambda: block_member(member=member, reason="other", until=FAR, by=admin)) == (WORDS, "until")
    assert read_refusal(lambda: limit_member(member=member, up_kbit=100, down_kbit=100, reason="other", until=FAR, by=admin)) == (
        WORDS,
        "until",
    )


def test_nobody_leaves_or_moves_in_the_year_9999(network: factories.Network) -> None:
    admin, member, room = network.admin, network.residents["m1"].member, None
    assert read_refusal(lambda: plan_departure(member=member, on=date(9999, 12, 31), by=admin)) == (WORDS, "on")
    pool = network.private
    assert read_refusal(lambda: plan_member_move(member=member, on=FAR.date(), room=room, pool=pool, follow=True, by=admin)) == (
        WORDS,
        "on",
    )


def test_the_page_of_leaving_says_so_and_the_member_s_page_is_there(network: factories.Network) -> None:
    mara, path = signed_in(network.admin), f"/members/{network.residents['m1'].member.pk}/"
    answer = mara.post(f"{path}leave/", {"on": "9999-12-31"})
    assert (answer.status_code, WORDS in text(answer)) == (422, True)
    assert not Departure.objects.exists()
    assert mara.get(path).status_code == 200


def test_a_pinhole_ends_before_that(network: factories.Network) -> None:
    mara, path = signed_in(network.admin), f"/members/{network.residents['m1'].member.pk}/pinholes/add/"
    given = {"pinhole-protocol": "tcp", "pinhole-port": "443", "pinhole-address": "::10", "pinhole-until": "9999-12-31"}
    answer = mara.post(path, given)
    assert (answer.status_code, WORDS in text(answer)) == (422, True)
    assert not Pinhole.objects.exists()


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00", "1899-12-31T23:59:59"])
def test_who_had_an_address_before_there_were_any_is_no_question(network: factories.Network, at: str) -> None:
    mara = signed_in(network.admin)
    answer = mara.post("/addresses/held/", {"address": "198.51.100.7", "at": at, "reason": "a slip of the pen"})
    assert (answer.status_code, "No address was assigned before the year 1970. Choose a later time." in text(answer)) == (422, True)
    assert "a slip of the pen" not in text(mara.get("/history/enquiries/"))


def test_a_file_s_bans_do_not_end_there_either(network: factories.Network) -> None:
    own = services.create_list(name="Own", by=network.admin)
    answer = signed_in(network.admin).post(f"/bans/{own.pk}/import/", {"term": "at", "until": f"{timezone.now().year + 7000}-01-01T00:00"})
    assert WORDS in text(answer)
