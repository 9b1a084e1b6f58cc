"""Lengths of the IPv6 prefixes that members of a group hold: the gateways take only a few different ones.

The compiler refuses a policy with more of them (firewall/compile.py), and with it each change of the group.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from apps.lib.database.validity import is_valid_now_or_later
from apps.lib.errors import Problem
from apps.network.models import Holding, Pool
from firewall.elements.members import MOST_LENGTHS


def list_competing_pools(pools: Collection[int]) -> list[int]:
    """Return the ids of all IPv6 pools of these IPv6 pools' groups, for groups whose pools have more lengths than gateways take.

    Members of such a group cannot hold prefixes of all its pools. So a transaction that assigns one locks them all: of two that bring
    the last possible length, one waits and sees the other. Nearly everywhere there are none.
    """
    groups = Pool.objects.filter(pk__in=pools, kind=Pool.Kind.PREFIX6).order_by().values("group")
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for pool in Pool.objects.filter(kind=Pool.Kind.PREFIX6, group__in=groups).order_by("pk"):
        found[pool.group_id][pool.pk] = pool.member_length
    return [pk for lengths in found.values() if len(set(lengths.values())) > MOST_LENGTHS for pk in lengths]


def read_lengths_in_use() -> defaultdict[int, set[int]]:
    """Return the lengths of the prefixes that members hold now or later, by group; a group without any has none."""
    held = Holding.objects.filter(is_valid_now_or_later(), pool=OuterRef("pk"))
    found: defaultdict[int, set[int]] = defaultdict(set)
    for pool in Pool.objects.filter(Exists(held), kind=Pool.Kind.PREFIX6):
        found[pool.group_id].add(pool.member_length)
    return found


def refuse_further_lengths(pools: Iterable[Pool]) -> None:
    """Raise Problem if prefixes of these pools would be of more different lengths than gateways take, beside those that members hold.

    The caller has locked what `list_competing_pools` returns.
    """
    in_use = read_lengths_in_use()
    for pool in pools:
        if words := find_length_refusal(pool, in_use[pool.group_id]):
            raise Problem(words, "pool", culprit=pool)
        if pool.kind == Pool.Kind.PREFIX6:
            in_use[pool.group_id].add(pool.member_length)


def find_length_refusal(pool: Pool, in_use: Collection[int]) -> str:
    """Return why members cannot get the first prefix of this pool's length beside those of the lengths in use; "" if they can."""
    if pool.kind != Pool.Kind.PREFIX6 or pool.member_length in in_use or len(in_use) < MOST_LENGTHS:
        return ""
    words = _("Members hold IPv6 prefixes of %(lengths)s; no further length is possible. %(pool)s gives /%(length)d: choose another pool.")
    lengths = ", ".join(f"/{length}" for length in sorted(in_use))
    return words % {"lengths": lengths, "pool": pool, "length": pool.member_length}
