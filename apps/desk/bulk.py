"""What can be done with many members at once: what it would do, in words, and doing it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.bans.blocks import services as blocking
from apps.bans.blocks.forms import BlockForm
from apps.bans.blocks.models import Block
from apps.bans.blocks.selectors import filter_blockable, list_blocked_member_ids
from apps.desk.forms import ChangeTariffForm, ExtendForm
from apps.desk.selectors.members import MemberListQuery, filter_members
from apps.lib.ui import formats
from apps.members import services
from apps.members.models import Member

NAMED = 5
MOST_PICKED = 1000


@dataclass(frozen=True)
class MemberSelection:
    """The selected members: `picks` by id, or, where there are none, all that are found."""

    members: QuerySet[Member]
    number: int
    picks: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        """The first few, for the preview."""
        return list(self.members.order_by("name", "id").values_list("name", flat=True)[:NAMED])

    @property
    def more(self) -> int:
        return max(0, self.number - NAMED)


def parse_selection(post: QueryDict, want: MemberListQuery) -> MemberSelection:
    """Which rows were selected: all of the filter, or the picked ones."""
    if post.get("all"):
        members = filter_members(want)
        return MemberSelection(members, members.count(), ())
    picks = tuple(int(pick) for pick in post.getlist("pick")[:MOST_PICKED] if pick.isascii() and pick.isdigit() and len(pick) < 19)
    members = Member.objects.filter(pk__in=picks)
    return MemberSelection(members, members.count(), picks)


class BulkAction[Form: forms.Form](ABC):
    """One thing to do. `name` is its value in the form, `title` what the page asks."""

    name = ""
    danger = False  # its button cuts somebody off

    def __init__(self, form: Form) -> None:
        self.form = form

    @abstractmethod
    def title(self, chosen: MemberSelection) -> str: ...

    @abstractmethod
    def affected(self, chosen: MemberSelection) -> int:
        """How many would change; the form is valid."""

    @abstractmethod
    def does(self, number: int) -> str:
        """What happens to so many, as a sentence."""

    @abstractmethod
    def done(self, number: int) -> str: ...

    @abstractmethod
    def verb(self, number: int) -> str: ...

    @abstractmethod
    def do(self, chosen: MemberSelection, by: User) -> str:
        """Do it and say what was done."""

    def spares(self, number: int) -> str:
        """Who of the chosen stays as it is."""
        text = ngettext("%(n)s has it already and stays as it is.", "%(n)s have it already and stay as they are.", number)
        return text % _format_number(number)

    def keeps(self) -> str:
        """What does not change for anybody."""
        return _("Addresses, forwards and access do not change.")

    def preview(self, chosen: MemberSelection) -> "BulkPreview | None":
        """What would happen with what the form says; None while it says nothing that makes sense."""
        if not self.form.is_valid():
            return None
        number = self.affected(chosen)
        spared = chosen.number - number
        return BulkPreview(number, self.does(number), self.spares(spared) if spared else "", self.keeps(), self.verb(number))


@dataclass(frozen=True)
class BulkPreview:
    number: int
    does: str
    spares: str
    keeps: str
    verb: str


class ExtendPaidUntil(BulkAction[ExtendForm]):
    name = "extend"

    @property
    def until(self) -> date:
        until: date = self.form.cleaned_data["until"]
        return until

    def title(self, chosen: MemberSelection) -> str:
        return ngettext("Extend “paid until” of %(n)s member", "Extend “paid until” of %(n)s members", chosen.number) % _format_number(
            chosen.number
        )

    def affected(self, chosen: MemberSelection) -> int:
        return chosen.members.filter(Q(paid_until__lt=self.until) | Q(paid_until=None)).count()

    def does(self, number: int) -> str:
        text = ngettext("%(n)s member is paid until %(day)s from now on.", "%(n)s members are paid until %(day)s from now on.", number)
        return text % {**_format_number(number), "day": formats.format_day(self.until)}

    done = does

    def verb(self, number: int) -> str:
        return ngettext("Extend %(n)s member", "Extend %(n)s members", number) % _format_number(number)

    def do(self, chosen: MemberSelection, by: User) -> str:
        return self.done(services.extend_paid(members=chosen.members, until=self.until, by=by))


class ChangeTariff(BulkAction[ChangeTariffForm]):
    name = "tariff"

    def title(self, chosen: MemberSelection) -> str:
        return ngettext("Change the tariff of %(n)s member", "Change the tariff of %(n)s members", chosen.number) % _format_number(
            chosen.number
        )

    def affected(self, chosen: MemberSelection) -> int:
        return chosen.members.exclude(tariff=self.form.cleaned_data["tariff"]).count()

    def does(self, number: int) -> str:
        text = ngettext(
            "%(n)s member has the tariff %(tariff)s from now on.", "%(n)s members have the tariff %(tariff)s from now on.", number
        )
        return text % {**_format_number(number), "tariff": self.form.cleaned_data["tariff"]}

    done = does

    def verb(self, number: int) -> str:
        return ngettext("Change %(n)s tariff", "Change %(n)s tariffs", number) % _format_number(number)

    def do(self, chosen: MemberSelection, by: User) -> str:
        return self.done(services.assign_tariff(members=chosen.members, tariff=self.form.cleaned_data["tariff"], by=by))


class BlockMembers(BulkAction[BlockForm]):
    name = "block"
    danger = True

    def title(self, chosen: MemberSelection) -> str:
        return ngettext("Block %(n)s member", "Block %(n)s members", chosen.number) % _format_number(chosen.number)

    def affected(self, chosen: MemberSelection) -> int:
        return filter_blockable(chosen.members).count()

    def does(self, number: int) -> str:
        text = ngettext(
            "%(n)s member is cut off: open connections end, new ones are refused at once, and what is open to them rests.",
            "%(n)s members are cut off: open connections end, new ones are refused at once, and what is open to them rests.",
            number,
        )
        return text % _format_number(number)

    def spares(self, number: int) -> str:
        text = ngettext(
            "%(n)s is blocked already or has left, and stays as it is.",
            "%(n)s are blocked already or have left, and stay as they are.",
            number,
        )
        return text % _format_number(number)

    def keeps(self) -> str:
        return _("Portal and name servers stay reachable. Addresses and forwards are kept. You can lift it at any time.")

    def done(self, number: int) -> str:
        return ngettext("%(n)s member is blocked.", "%(n)s members are blocked.", number) % _format_number(number)

    def verb(self, number: int) -> str:
        return ngettext("Block %(n)s member", "Block %(n)s members", number) % _format_number(number)

    def do(self, chosen: MemberSelection, by: User) -> str:
        return self.done(blocking.block_many(members=chosen.members, by=by, **self.form.wanted()))


class UnblockMembers(BulkAction[forms.Form]):
    name = "unblock"

    def title(self, chosen: MemberSelection) -> str:
        return ngettext("Lift the block of %(n)s member", "Lift the blocks of %(n)s members", chosen.number) % _format_number(chosen.number)

    def affected(self, chosen: MemberSelection) -> int:
        return chosen.members.filter(pk__in=list_blocked_member_ids()).count()

    def does(self, number: int) -> str:
        text = ngettext(
            "%(n)s member reaches the internet again within a second, and is reached from there.",
            "%(n)s members reach the internet again within a second, and are reached from there.",
            number,
        )
        return text % _format_number(number)

    def spares(self, number: int) -> str:
        return ngettext("%(n)s is not blocked.", "%(n)s are not blocked.", number) % _format_number(number)

    def keeps(self) -> str:
        return _("The history of the blocks stays.")

    def done(self, number: int) -> str:
        return ngettext("%(n)d block is lifted.", "%(n)d blocks are lifted.", number) % {"n": number}

    def verb(self, number: int) -> str:
        return ngettext("Lift %(n)s block", "Lift %(n)s blocks", number) % _format_number(number)

    def do(self, chosen: MemberSelection, by: User) -> str:
        return self.done(blocking.unblock_members(members=chosen.members, by=by))


def parse_action(post: QueryDict, today: date) -> BulkAction[Any] | None:
    """What the pressed button asks for; with its defaults the first time, with what was entered then."""
    match post.get("do"):
        case ExtendPaidUntil.name:
            return ExtendPaidUntil(ExtendForm(_build_form_data(post, "until", ExtendForm(today=today)), today=today))
        case ChangeTariff.name:
            return ChangeTariff(ChangeTariffForm(_build_form_data(post, "tariff", ChangeTariffForm())))
        case BlockMembers.name:
            return BlockMembers(BlockForm(post if "term" in post else {"reason": Block.Reason.RULES, "term": "never"}))
        case UnblockMembers.name:
            return UnblockMembers(forms.Form({}))
    return None


def _build_form_data(post: QueryDict, name: str, fresh: forms.Form) -> dict[str, object]:
    """The first look is a preview of the default."""
    if name in post:
        return {name: post[name]}
    default = fresh[name].value() or next(iter(_list_first_choice(fresh, name)), "")
    return {name: default}


def _list_first_choice(form: forms.Form, name: str) -> Sequence[object]:
    field = form.fields[name]
    rows = field.queryset if isinstance(field, forms.ModelChoiceField) else None
    return [row.pk for row in rows[:1]] if rows is not None else []


def _format_number(number: int) -> dict[str, str]:
    return {"n": formats.format_number(number)}
