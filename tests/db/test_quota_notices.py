"""Mails at 80 % and 100 % of a quota: once a month each, to members who want them, in their language."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.mail import services
from apps.mail.models import Message
from apps.members.models import Member
from apps.traffic import quota_notices
from apps.traffic.models import Quota
from tests import factories, usage_factories

GB = 10**9
NOW = datetime(2050, 3, 10, 12, tzinfo=ZoneInfo("Europe/Berlin"))
NEXT_MONTH = datetime(2050, 4, 10, 12, tzinfo=ZoneInfo("Europe/Berlin"))
HOUR = timedelta(hours=1)


@pytest.fixture
def people(network: factories.Network) -> factories.Network:
    """A network in which all members have 100 GB a month and the first reads German."""
    for number, resident in enumerate(network.residents.values()):
        given = {"email": f"m{number}@lindenhof.example", "language": "de" if number == 0 else "en", "name": f"Number {number}"}
        Member.objects.filter(pk=resident.member.pk).update(**given)
    Quota.objects.create(tariff=network.residents["m1"].member.tariff, octets=100 * GB)
    usage_factories.read(network.gateways, NOW - timedelta(days=12), NEXT_MONTH)
    return network


def count_usage(people: factories.Network, who: str, gigabytes: int, at: datetime = NOW - HOUR) -> None:
    usage_factories.count_usage(people.residents[who].holding, at, up=gigabytes * GB // 2, down=gigabytes * GB - gigabytes * GB // 2)


def list_mails() -> list[tuple[str, str]]:
    found = Message.objects.order_by("id").values_list("to", "subject")
    return [(to, subject.replace("\u202f", " ")) for to, subject in found]


def test_each_threshold_is_told_once_a_month_in_the_members_language(people: factories.Network) -> None:
    count_usage(people, "m1", 79)
    count_usage(people, "m2", 85)
    assert (quota_notices.send_notices(NOW), list_mails()) == (1, [("m1@lindenhof.example", "85 % of your traffic quota is used")])
    count_usage(people, "m1", 1, NOW - 2 * HOUR)
    assert (quota_notices.send_notices(NOW), quota_notices.send_notices(NOW)) == (1, 0)
    assert list_mails()[-1] == ("m0@lindenhof.example", "80 % deines Kontingents sind verbraucht")
    count_usage(people, "m1", 30, NOW - 3 * HOUR)
    assert (quota_notices.send_notices(NOW), quota_notices.send_notices(NOW)) == (1, 0)
    assert list_mails()[-1] == ("m0@lindenhof.example", "Dein Kontingent ist verbraucht")
    german = Message.objects.order_by("id").last()
    assert german and "seit dem 01.03.2050 hast du 110\u202fGB von den 100\u202fGB verbraucht" in german.text
    assert (
        "01.04.2050" in german.text and "/me/" in german.text and german.unsubscribe and german.about_id == people.residents["m1"].member.pk
    )
    assert quota_notices.send_notices(NEXT_MONTH) == 0
    count_usage(people, "m1", 500, NEXT_MONTH - HOUR)
    assert (quota_notices.send_notices(NEXT_MONTH), list_mails()[-1][1]) == (1, "Dein Kontingent ist verbraucht")


def test_who_passes_both_thresholds_at_once_gets_one_mail(people: factories.Network) -> None:
    count_usage(people, "m2", 150)
    assert (quota_notices.send_notices(NOW), list_mails()) == (1, [("m1@lindenhof.example", "Your traffic quota is used up")])


def test_who_left_has_no_address_or_switched_it_off_gets_none(people: factories.Network) -> None:
    for who in ("m1", "m2", "m3"):
        count_usage(people, who, 90)
    Member.objects.filter(pk=people.residents["m1"].member.pk).update(state=Member.State.LEFT)
    Member.objects.filter(pk=people.residents["m2"].member.pk).update(email="")
    services.switch_notice_off(address="M2@lindenhof.example", notice=quota_notices.KIND)
    assert (quota_notices.send_notices(NOW), list_mails()) == (0, [])


def test_without_a_quota_nobody_is_told_anything(people: factories.Network) -> None:
    Quota.objects.all().delete()
    count_usage(people, "m1", 9000)
    assert quota_notices.send_notices(NOW) == 0


def test_whoever_was_told_costs_no_query_of_their_own(people: factories.Network) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert quota_notices.send_notices(NOW) == 0
        return len(captured)

    count_usage(people, "m1", 90)
    quota_notices.send_notices(NOW)
    few = queries()
    for who in ("m2", "m3"):
        count_usage(people, who, 90)
    assert quota_notices.send_notices(NOW) == 2
    assert queries() == few


def test_one_run_writes_a_bounded_number_and_the_next_one_goes_on(people: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota_notices, "MAX_MAILS_PER_RUN", 2)
    for who in ("m1", "m2", "m3"):
        count_usage(people, who, 90)
    assert [quota_notices.send_notices(NOW) for _run in range(3)] == [2, 1, 0]
