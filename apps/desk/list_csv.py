"""The members list as CSV, streamed while it is read: memory use does not depend on the length."""

import csv
from collections.abc import Iterator
from datetime import date
from itertools import batched

from django.utils.translation import gettext as _

from apps.desk.selectors.members import MemberListQuery, MemberRow, filter_members, list_rows
from apps.lib.csv_stream import EchoFile, escape_formula
from apps.nat.pinholes.selectors import count_by_member

BATCH = 1000


def render_member_list_csv(want: MemberListQuery, today: date) -> Iterator[str]:
    """Yield a line for each member found, by name."""
    writer = csv.writer(EchoFile())
    yield "\ufeff" + writer.writerow(_list_headings())
    ids = filter_members(want).order_by("name", "id").values_list("pk", flat=True)
    for some in batched(ids.iterator(chunk_size=BATCH), BATCH):
        opened = count_by_member(some)
        found_rows = list_rows(some, today, gateways=False)
        yield "".join(
            writer.writerow([escape_formula(cell) for cell in _build_cells(row, opened.get(row.member.pk, 0))]) for row in found_rows
        )


def _list_headings() -> list[str]:
    return [
        _("Number"), _("Name"), _("E-mail"), _("Room"), _("State"), _("Tariff"), _("Private address"), _("Public address"),
        _("IPv6 prefix"), _("Port forwards"), _("IPv6 pinholes"), _("Member since"), _("Paid until"), _("Blocked"),
    ]  # fmt: skip


def _build_cells(row: MemberRow, pinholes: int) -> list[str]:
    member = row.member
    addresses = (" ".join(each) for each in (row.private, row.public, row.prefixes))
    return [
        f"M-{member.number}", member.name, member.email, str(member.room or ""), member.state, str(member.tariff), *addresses,
        str(row.forwards), str(pinholes), member.since.isoformat(), member.paid_until.isoformat() if member.paid_until else "",
        _("yes") if row.blocked else _("no"),
    ]  # fmt: skip
