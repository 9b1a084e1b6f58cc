"""What each kept revision's gateways run: written as the way from the revision before, now and then whole, and read again.

A revision's content is a delta or a ruleset per gateway; those that are alike for several gateways are kept once. Packed as
compressed JSON of `firewall.codec`, because it is read only when somebody compares, goes back, or a worker begins anew.
"""

import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from functools import reduce

from django.db import transaction
from django.db.models import Count, Min

from apps.deployments.models import Revision, RevisionContent
from firewall.codec import decode, encode
from firewall.delta_composition import compose
from firewall.diff import Delta, apply
from firewall.ruleset import EMPTY, Ruleset

WHOLE_EVERY = 100  # revisions; reading one applies at most this many deltas
ALL = 1_000_000_000

type Rulesets = Mapping[str, Ruleset]  # by the gateway's name


class NotKept(Exception):  # noqa: N818 - a state of the world
    """The revision's content is not there (any more): it is older than what is kept."""


def pack(parts: Mapping[str, Ruleset] | Mapping[str, Delta]) -> bytes:
    """Per gateway a value; gateways with equal values share one."""
    kept: list[tuple[list[str], Ruleset | Delta]] = []
    for name, part in parts.items():
        same = next((names for names, known in kept if known == part), None)
        if same is None:
            kept.append(([name], part))
        else:
            same.append(name)
    data = [{"gateways": names, "part": encode(part)} for names, part in kept]
    return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)


def _unpack[Part: (Ruleset, Delta)](kind: type[Part], packed: bytes | memoryview) -> dict[str, Part]:
    found: dict[str, Part] = {}
    for each in json.loads(zlib.decompress(packed)):
        part: Part = decode(kind, each["part"], "content")
        found |= dict.fromkeys(each["gateways"], part)
    return found


def keep_delta(revision: Revision, base: Revision, deltas: Mapping[str, Delta]) -> None:
    """Keep the revision as the way from `base`, which must be kept."""
    RevisionContent.objects.create(revision=revision, base=base, packed=pack(deltas))


def keep_whole(revision: Revision, rulesets: Rulesets) -> None:
    """Keep all of it, so that reading it, and what follows, does not need what came before."""
    RevisionContent.objects.update_or_create(revision=revision, defaults={"base": None, "packed": pack(rulesets)})


def is_kept(revision: Revision) -> bool:
    """Can it be gone back to?"""
    return RevisionContent.objects.filter(revision=revision).exists()


def is_newest(revision: Revision) -> bool:
    """Has nothing newer of its group been kept? Then its own content, if it is not there, may be on its way."""
    return not RevisionContent.objects.filter(revision__group=revision.group_id, revision__gt=revision).exists()


def is_whole_due(revision: Revision) -> bool:
    """Have so many deltas come since the last whole one, or is there none?"""
    earlier = RevisionContent.objects.filter(revision__group=revision.group_id, revision__lte=revision)
    last = earlier.filter(base=None).order_by("-pk").values_list("revision", flat=True).first()
    return last is None or earlier.filter(revision__gt=last).aggregate(n=Count("pk"))["n"] >= WHOLE_EVERY


def load(revision: Revision) -> dict[str, Ruleset]:
    """What the revision's gateways run, by name. Raises NotKept."""
    chain: list[RevisionContent] = []
    at: int | None = revision.pk
    while at is not None:
        found = RevisionContent.objects.filter(pk=at).first()
        if found is None:
            raise NotKept(f"{revision}: its content is not kept any more; the oldest that is can be seen in the list of revisions")
        chain.append(found)
        at = found.base_id
    rulesets = _unpack(Ruleset, chain.pop().packed)
    for content in reversed(chain):
        for name, delta in _unpack(Delta, content.packed).items():
            rulesets[name] = apply(rulesets.get(name, EMPTY), delta)
    return rulesets


def find_delta_between(older: Revision, newer: Revision) -> dict[str, Delta] | None:
    """What leads from one to the other, by gateway, for reading; None where something whole lies between them. Costs what changed."""
    deltas: list[dict[str, Delta]] = []
    at: int | None = newer.pk
    while at is not None and at != older.pk:
        found = RevisionContent.objects.filter(pk=at).exclude(base=None).first()
        if found is None:
            return None
        deltas.append(_unpack(Delta, found.packed))
        at = found.base_id
    if at is None:
        return None
    return {name: reduce(compose, (part.get(name, Delta()) for part in reversed(deltas)), Delta()) for name in newer.digests}


@transaction.atomic
def delete_before(revision: Revision, at_most: int = ALL) -> int:
    """Drop up to so many contents from before the newest whole one that is not newer than `revision`; how many.

    The newest of them go first: what is left can always be read, because a content is read from older ones.
    """
    group = RevisionContent.objects.filter(revision__group=revision.group_id)
    held = revision.group.holds.filter(released=None).aggregate(oldest=Min("revision"))["oldest"]
    until = min(revision.pk, held) if held else revision.pk
    whole = group.filter(base=None, revision__lte=until).order_by("-pk").values_list("revision", flat=True).first()
    if whole is None:
        return 0
    old = list(group.filter(revision__lt=whole).order_by("-pk").values_list("pk", flat=True)[:at_most])
    return RevisionContent.objects.filter(pk__in=old).delete()[0]


def delete_some(before: datetime, at_most: int) -> int:
    """Drop up to so many contents that are older than this, except for what newer revisions are read from; how many."""
    newest_old = Revision.objects.filter(created__lt=before).order_by("group_id", "-pk").distinct("group_id")
    forgotten = 0
    for revision in newest_old:
        forgotten += delete_before(revision, at_most - forgotten)
    return forgotten
