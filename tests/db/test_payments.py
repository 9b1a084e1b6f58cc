"""Import of “paid until” from a list: a preview first, all or nothing, and a second import changes nothing."""

from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.lib.errors import Problem
from apps.members import payment_import
from apps.members.models import Member
from tests import factories
from tests.db.page_client import list_messages, signed_in, text

pytestmark = pytest.mark.django_db


def members() -> list[Member]:
    return [factories.member(f"Payer {number}", number=number) for number in (2207, 2208, 2209)]


def list_paid_until() -> list[date | None]:
    return list(Member.objects.order_by("number").values_list("paid_until", flat=True))


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_numbers_and_days_in_the_usual_spellings_are_understood(separator: str) -> None:
    members()
    lines = ["\ufeffNumber;Paid until;Name", "2207;2027-03-31;Ada", "", "m-2208;31.03.2027"]
    preview = payment_import.read_payments("\r\n".join(lines).replace(";", separator))
    assert [(each.line, each.member.number, each.until) for each in preview.payments] == [
        (2, 2207, date(2027, 3, 31)),
        (4, 2208, date(2027, 3, 31)),
    ]
    assert preview.faults == []
    assert list_paid_until() == [None, None, None]


@pytest.mark.parametrize(
    "purpose",
    [
        '"Miete; Strom"', '"Miete, Strom"', "Miete\tStrom", "Miete\x85Strom", "Miete\u2028Strom", "Miete\x0bStrom", 'Zimmer 5"',
        '"Miete "Zimmer 5" bar"', "x" * 200_000, '"Miete\n2208;2099-12-31"', '"Miete\n\n2208,later, ""Zimmer\t5"" "',
    ],
)  # fmt: skip
@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("number", ["2207", '"m-2207" '])
def test_further_columns_may_contain_anything(number: str, separator: str, purpose: str) -> None:
    members()
    preview = payment_import.read_payments(f"{separator.join([number, '2027-03-31', purpose])}\r{separator.join(['2208', '31.03.2027'])}\n")
    assert [(each.line, each.member.number) for each in preview.payments] == [(1, 2207), (2 + purpose.count("\n"), 2208)]
    assert (preview.payments[1].until, preview.faults) == (date(2027, 3, 31), [])


@pytest.mark.parametrize(
    "rest",
    [
        "",
        '2209;2027-03-31;cash\n2210;2027-03-31;Room 5"\n',
        "2209;2027-03-31\n",
        '2209;2027-03-31;"Rent"\n',
        '2209;2027-03-31;"Rent ""5""\n',
    ],
)
def test_a_line_with_a_quotation_mark_too_few_is_named_and_hides_no_payment_below_it(rest: str) -> None:
    members()
    preview = payment_import.read_payments(f'2207;2027-03-31\n2208;2027-03-31;"Rent\n{rest}')
    assert [each.line for each in preview.payments] == [1]
    assert [(each.line, each.text) for each in preview.faults] == [(2, '2208;2027-03-31;"Rent')]
    assert "quotation mark is missing" in preview.faults[0].why


def test_a_header_may_have_a_line_break_in_a_cell() -> None:
    members()
    preview = payment_import.read_payments('Number;"Paid\nuntil"\n2207;2027-03-31\n')
    assert ([(each.line, each.member.number) for each in preview.payments], preview.faults) == ([(3, 2207)], [])


def test_a_file_in_windows_1252_is_read_with_its_punctuation() -> None:
    members()
    mara = signed_in(factories.user())
    octets = "2207;2027-03-31;Müller … Kaution €\n".encode("cp1252") + b"2208;2027-03-31;\x81\n"
    page = mara.post("/members/payments/", {"file": SimpleUploadedFile("fees.csv", octets)})
    assert "Extend for 2 members" in text(page) and "Müller … Kaution €" in page.context["text"]


def test_every_line_that_is_not_understood_is_named_and_then_nothing_changes() -> None:
    members()
    factories.member("Gone", number=2210, state="left")
    bad = [
        "2207;2027-03-31",
        "x;2027-03-31",
        "9999;2027-03-31",
        "2208;soon",
        "2208",
        "2207;2027-04-01",
        "2210;2027-01-01",
        "=1+1;2027-01-01",
    ]
    preview = payment_import.read_payments("\n".join(bad))
    assert [each.line for each in preview.payments] == [1]
    assert [each.line for each in preview.faults] == [2, 3, 4, 5, 6, 7, 8]
    assert "line 1 too" in preview.faults[4].why
    with pytest.raises(Problem, match="nothing was changed"):
        payment_import.import_payments(preview, by=factories.user())
    assert list_paid_until()[:3] == [None, None, None]
    for nothing in ("", "\n\n", "Number;Day", "\0\n\0\n"):
        with pytest.raises(Problem, match="empty"):
            payment_import.read_payments(nothing)


def test_a_file_with_zero_octets_is_read_as_if_they_were_not_there() -> None:
    members()
    mara = signed_in(factories.user())
    page = mara.post("/members/payments/", {"file": SimpleUploadedFile("fees.csv", b"2207;2027-03-31\n\0\n22\x0008;2027-03-31\n")})
    sent = {"text": page.context["text"], "confirmed": "1"}
    assert "extended for 2 members" in list_messages(mara.post("/members/payments/", sent, follow=True))[0]


def test_a_list_twice_changes_nothing_the_second_time_and_nobody_is_paid_for_less() -> None:
    members()
    mara = factories.user()
    Member.objects.filter(number=2209).update(paid_until=date(2028, 1, 1))
    given = "2207;2027-03-31\n2208;2027-03-31\n2209;2027-03-31"
    assert payment_import.import_payments(payment_import.read_payments(given), by=mara) == 2
    versions = list(Member.objects.order_by("number").values_list("version", flat=True))
    again = payment_import.read_payments(given)
    assert (payment_import.import_payments(again, by=mara), again.unchanged_count) == (0, 3)
    assert list_paid_until() == [date(2027, 3, 31), date(2027, 3, 31), date(2028, 1, 1)]
    assert list(Member.objects.order_by("number").values_list("version", flat=True)) == versions == [2, 2, 1]


def test_what_was_extended_further_since_the_list_was_read_is_not_moved_back() -> None:
    members()
    read = payment_import.read_payments("2207;2027-03-31\n2208;2027-03-31")
    Member.objects.filter(number=2208).update(paid_until=date(2028, 1, 1))
    assert payment_import.import_payments(read, by=factories.user()) == 1
    assert list_paid_until() == [date(2027, 3, 31), date(2028, 1, 1), None]


def test_each_extended_member_has_an_entry_in_the_history_with_its_author() -> None:
    members()
    mara = factories.user()
    signed_in(mara).post("/members/payments/", {"text": "2207;2027-03-31\n2208;2027-04-30", "confirmed": "1"})
    events = Member.pgh_event_model.objects.filter(pgh_label="update").order_by("number")  # type: ignore[attr-defined]  # made by the tracker
    assert [(each.number, each.paid_until, each.version, each.pgh_context.metadata["user"]) for each in events] == [
        (2207, date(2027, 3, 31), 2, mara.pk),
        (2208, date(2027, 4, 30), 2, mara.pk),
    ]


def test_a_long_list_takes_as_many_queries_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [factories.member(f"Payer {number}", number=number) for number in range(2207, 2267)]
    staff = signed_in(factories.user())
    staff.get("/members/payments/")  # the first page of a session writes to the database

    def count_queries(some: list[Member]) -> int:
        with CaptureQueriesContext(connection) as made:
            text = "\n".join(f"{each.number};2027-03-31" for each in some)
            assert staff.post("/members/payments/", {"text": text, "confirmed": "1"}).status_code == 302
        return len(made)

    assert count_queries(people[:2]) == count_queries(people[2:])
    assert set(list_paid_until()) == {date(2027, 3, 31)}
    monkeypatch.setattr(payment_import, "STEP", 25)
    later = payment_import.read_payments("\n".join(f"{each.number};2028-03-31" for each in people))
    assert payment_import.import_payments(later, by=factories.user("ada")) == 60
    assert set(list_paid_until()) == {date(2028, 3, 31)}


def test_a_file_is_looked_at_first_and_brought_when_that_is_confirmed() -> None:
    members()
    mara = signed_in(factories.user())
    file = SimpleUploadedFile("fees.csv", "Nummer;Bezahlt bis;Für\n2207;2027-03-31;Müller".encode("latin-1"))
    page = mara.post("/members/payments/", {"file": file})
    assert "Extend for 1 member" in text(page) and list_paid_until() == [None, None, None]
    sent = {"text": page.context["text"], "confirmed": "1"}
    assert "extended for 1 member" in list_messages(mara.post("/members/payments/", sent, follow=True))[0]
    assert "extended for 0 members" in list_messages(mara.post("/members/payments/", sent, follow=True))[0]
    assert "Line 1, “hello”" in text(mara.post("/members/payments/", {"text": "hello 1"})).replace("hello 1", "hello")
    assert mara.post("/members/payments/", {"text": "x1;y", "confirmed": "1"}).status_code == 422
    assert "The list is empty." in text(mara.post("/members/payments/", {"text": "Number;Day", "confirmed": "1"}))
    assert mara.post("/members/payments/", {}).status_code == 422
