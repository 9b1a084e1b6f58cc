"""Bulk actions on members: a preview in words, and doing it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Self

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
from apps.lib.web.preview_mark import PreviewMark
from apps.lib.web.query_params import parse_ids
from apps.members import services
from apps.members.models import Member

NAMED = 5
MOST_PICKED = 1000


@dataclass(frozen=True)
class MemberSelection:
    """The selected members: those with the ids in `picks`, or all that the filter finds if `picks` is empty."""

    members: QuerySet[Member]
    number: int
    picks: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        """The first few names, for the preview."""
        return list(self.members.order_by("name", "id").values_list("name", flat=True)[:NAMED])

    @property
    def more(self) -> int:
        return max(0, self.number - NAMED)


def parse_selection(post: QueryDict, want: MemberListQuery) -> MemberSelection:
    """Return the selection of the form: all that the filter finds, or the picked rows."""
    if post.get("all"):
        members = filter_members(want)
        return MemberSelection(members, members.count(), ())
    picks = tuple(parse_ids(post.getlist("pick"))[:MOST_PICKED])
    members = Member.objects.filter(pk__in=picks)
    return MemberSelection(members, members.count(), picks)


@dataclass(frozen=True)
class MembersPreviewMark(PreviewMark):
    """The mark of a preview whose effects are the members who would change: a filter may find others by then."""

    def describe_other_effects(self, confirmed: Self) -> str:
        """Return a sentence about how many members it would be, or that it would be others."""
        if self.number == confirmed.number:
            return _("It would be other members now than in the preview.")
        text = ngettext("It would be %(now)s member now, not %(before)s.", "It would be %(now)s members now, not %(before)s.", self.number)
        return text % {"now": formats.format_number(self.number), "before": formats.format_number(confirmed.number)}


class BulkAction[Form: forms.Form](ABC):
    """A bulk action. `name` is its value in the form, `title` the heading of its page.

    previewed: the fields that the sentences of its preview depend on.
    """

    name = ""
    danger = False  # its button cuts members off
    previewed: ClassVar[Sequence[str]] = ()

    def __init__(self, form: Form) -> None:
        self.form = form

    @abstractmethod
    def render_title(self, chosen: MemberSelection) -> str: ...

    @abstractmethod
    def filter_affected(self, members: QuerySet[Member]) -> QuerySet[Member]:
        """Return those of the members who would change. The form must be valid."""

    @abstractmethod
    def describe_effect(self, number: int) -> str:
        """Return a sentence that says what happens to this number of members."""

    @abstractmethod
    def describe_result(self, number: int) -> str: ...

    @abstractmethod
    def render_button(self, number: int) -> str: ...

    @abstractmethod
    def do(self, members: QuerySet[Member], by: User) -> str:
        """Carry the action out and return a sentence that says what was done."""

    def describe_spared(self, number: int) -> str:
        """Return a sentence about the selected members that do not change."""
        text = ngettext("%(n)s has it already and stays as it is.", "%(n)s have it already and stay as they are.", number)
        return text % _format_number(number)

    def describe_unchanged(self) -> str:
        """Return a sentence about what does not change for any member."""
        return _("Addresses, forwards and access do not change.")

    def build_preview(self, chosen: MemberSelection) -> "BulkPreview | None":
        """Return the preview of the entered values, None while the form is invalid."""
        if not self.form.is_valid():
            return None
        ids = list(self.filter_affected(chosen.members).order_by("pk").values_list("pk", flat=True))
        number = len(ids)
        spared = chosen.number - number
        return BulkPreview(
            Member.objects.filter(pk__in=ids),
            MembersPreviewMark.build(ids, [self.form.cleaned_data[name] for name in self.previewed]),
            self.describe_effect(number),
            self.describe_spared(spared) if spared else "",
            self.describe_unchanged(),
            self.render_button(number),
        )


@dataclass(frozen=True)
class BulkPreview:
    """What an action would do, in words, and to exactly which members."""

    members: QuerySet[Member]
    mark: MembersPreviewMark
    does: str
    spares: str
    keeps: str
    verb: str


class ExtendPaidUntil(BulkAction[ExtendForm]):
    name = "extend"
    previewed = ("until",)

    @property
    def until(self) -> date:
        until: date = self.form.cleaned_data["until"]
        return until

    def render_title(self, chosen: MemberSelection) -> str:
        return ngettext("Extend “paid until” of %(n)s member", "Extend “paid until” of %(n)s members", chosen.number) % _format_number(
            chosen.number
        )

    def filter_affected(self, members: QuerySet[Member]) -> QuerySet[Member]:
        return members.filter(Q(paid_until__lt=self.until) | Q(paid_until=None))

    def describe_effect(self, number: int) -> str:
        text = ngettext("%(n)s member is paid until %(day)s from now on.", "%(n)s members are paid until %(day)s from now on.", number)
        return text % {**_format_number(number), "day": formats.format_day(self.until)}

    describe_result = describe_effect

    def render_button(self, number: int) -> str:
        return ngettext("Extend for %(n)s member", "Extend for %(n)s members", number) % _format_number(number)

    def do(self, members: QuerySet[Member], by: User) -> str:
        return self.describe_result(services.extend_paid(members=members, until=self.until, by=by))


class ChangeTariff(BulkAction[ChangeTariffForm]):
    name = "tariff"
    previewed = ("tariff",)

    def render_title(self, chosen: MemberSelection) -> str:
        return ngettext("Change the tariff of %(n)s member", "Change the tariff of %(n)s members", chosen.number) % _format_number(
            chosen.number
        )

    def filter_affected(self, members: QuerySet[Member]) -> QuerySet[Member]:
        return members.exclude(tariff=self.form.cleaned_data["tariff"])

    def describe_effect(self, number: int) -> str:
        text = ngettext(
            "%(n)s member has the tariff %(tariff)s from now on.", "%(n)s members have the tariff %(tariff)s from now on.", number
        )
        return text % {**_format_number(number), "tariff": self.form.cleaned_data["tariff"]}

    describe_result = describe_effect

    def render_button(self, number: int) -> str:
        return ngettext("Change for %(n)s member", "Change for %(n)s members", number) % _format_number(number)

    def do(self, members: QuerySet[Member], by: User) -> str:
        return self.describe_result(services.assign_tariff(members=members, tariff=self.form.cleaned_data["tariff"], by=by))


class BlockMembers(BulkAction[BlockForm]):
    name = "block"
    danger = True

    def render_title(self, chosen: MemberSelection) -> str:
        return ngettext("Block %(n)s member", "Block %(n)s members", chosen.number) % _format_number(chosen.number)

    def filter_affected(self, members: QuerySet[Member]) -> QuerySet[Member]:
        return filter_blockable(members)

    def describe_effect(self, number: int) -> str:
        text = ngettext(
            "%(n)s member is cut off: open connections end, new ones are refused at once, and port forwards and pinholes are paused.",
            "%(n)s members are cut off: open connections end, new ones are refused at once, and port forwards and pinholes are paused.",
            number,
        )
        return text % _format_number(number)

    def describe_spared(self, number: int) -> str:
        text = ngettext(
            "%(n)s is already blocked or has left, and is not changed.",
            "%(n)s are already blocked or have left, and are not changed.",
            number,
        )
        return text % _format_number(number)

    def describe_unchanged(self) -> str:
        return _("Portal and name servers stay reachable. Addresses and forwards are kept. You can lift it at any time.")

    def describe_result(self, number: int) -> str:
        return ngettext("%(n)s member is blocked.", "%(n)s members are blocked.", number) % _format_number(number)

    def render_button(self, number: int) -> str:
        return ngettext("Block %(n)s member", "Block %(n)s members", number) % _format_number(number)

    def do(self, members: QuerySet[Member], by: User) -> str:
        return self.describe_result(blocking.block_members(members=members, by=by, **self.form.to_kwargs()))


class UnblockMembers(BulkAction[forms.Form]):
    name = "unblock"

    def render_title(self, chosen: MemberSelection) -> str:
        return ngettext("Lift the block of %(n)s member", "Lift the blocks of %(n)s members", chosen.number) % _format_number(chosen.number)

    def filter_affected(self, members: QuerySet[Member]) -> QuerySet[Member]:
        return members.filter(pk__in=list_blocked_member_ids())

    def describe_effect(self, number: int) -> str:
        text = ngettext(
            "%(n)s member reaches the internet again within a second, and is reached from there.",
            "%(n)s members reach the internet again within a second, and are reached from there.",
            number,
        )
        return text % _format_number(number)

    def describe_spared(self, number: int) -> str:
        return ngettext("%(n)s is not blocked.", "%(n)s are not blocked.", number) % _format_number(number)

    def describe_unchanged(self) -> str:
        return _("The history of the blocks stays.")

    def describe_result(self, number: int) -> str:
        return ngettext("%(n)d block is lifted.", "%(n)d blocks are lifted.", number) % {"n": number}

    def render_button(self, number: int) -> str:
        return ngettext("Lift %(n)s block", "Lift %(n)s blocks", number) % _format_number(number)

    def do(self, members: QuerySet[Member], by: User) -> str:
        return self.describe_result(blocking.unblock_members(members=members, by=by))


def parse_action(post: QueryDict, today: date) -> BulkAction[Any] | None:
    """Return the action of the pressed button, with defaults the first time, then with what was entered."""
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
    """Return the entered value, or the default on the first request, so that it shows a preview of the default."""
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
