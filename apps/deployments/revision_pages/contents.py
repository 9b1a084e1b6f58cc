"""Contents of revisions: the rulesets of their gateways, stored as deltas from the revision before, now and then whole.

A content is a delta or a ruleset per gateway; equal ones are stored once. It is packed as compressed JSON of `firewall.codec`,
because it is read rarely: for a comparison, for a rollback, or when a worker starts.
"""

import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from functools import reduce

from django.db import transaction
from django.db.models import Count, Min

from apps.deployments.models import Revision, RevisionContent
from apps.lib.interpreter import pause_garbage_collector
from firewall.codec import decode, encode
from firewall.delta_composition import compose_deltas
from firewall.diff import Delta, apply
from firewall.ruleset import EMPTY, Ruleset

WHOLE_EVERY = 100  # revisions; reading one applies at most this many deltas
ALL = 1_000_000_000

type Rulesets = Mapping[str, Ruleset]  # by gateway name


class ContentNotStored(Exception):  # noqa: N818 - a state of the world
    """The revision's content is not stored (any more): it is older than the retention."""


def pack_rulesets(parts: Mapping[str, Ruleset] | Mapping[str, Delta]) -> bytes:
    """Pack one value per gateway; gateways with equal values share one."""
    kept: list[tuple[list[str], Ruleset | Delta]] = []
    for name, part in parts.items():
        same = next((names for names, known in kept if known == part), None)
        if same is None:
            kept.append(([name], part))
        else:
            same.append(name)
    with pause_garbage_collector():
        data = [{"gateways": names, "part": encode(part)} for names, part in kept]
        return zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1)


def _unpack[Part: (Ruleset, Delta)](kind: type[Part], packed: bytes | memoryview) -> dict[str, Part]:
    found: dict[str, Part] = {}
    with pause_garbage_collector():
        for each in json.loads(zlib.decompress(packed)):
            part: Part = decode(kind, each["part"], "content")
            found |= dict.fromkeys(each["gateways"], part)
    return found


def store_delta(revision: Revision, base: Revision, deltas: Mapping[str, Delta]) -> None:
    """Store the revision as a delta from `base`, which must be stored."""
    RevisionContent.objects.get_or_create(revision=revision, defaults={"base": base, "packed": pack_rulesets(deltas)})


def store_whole_content(revision: Revision, rulesets: Rulesets) -> None:
    """Store the revision whole, so that it and its successors can be read without earlier ones."""
    RevisionContent.objects.update_or_create(revision=revision, defaults={"base": None, "packed": pack_rulesets(rulesets)})


def is_content_stored(revision: Revision) -> bool:
    """True if the content is stored, so that a rollback to it is possible."""
    return RevisionContent.objects.filter(revision=revision).exists()


def has_no_newer_content(revision: Revision) -> bool:
    """True if no newer content of the group is stored. Then the revision's own content, if missing, may still be on its way."""
    return not RevisionContent.objects.filter(revision__group=revision.group_id, revision__gt=revision).exists()


def is_whole_due(revision: Revision) -> bool:
    """True if no whole content is stored yet, or so many deltas have followed the last one."""
    earlier = RevisionContent.objects.filter(revision__group=revision.group_id, revision__lte=revision)
    last = earlier.filter(base=None).order_by("-pk").values_list("revision", flat=True).first()
    return last is None or earlier.filter(revision__gt=last).aggregate(n=Count("pk"))["n"] >= WHOLE_EVERY


def load_rulesets(revision: Revision) -> dict[str, Ruleset]:
    """Return the rulesets of the revision's gateways by name. Raises ContentNotStored."""
    chain: list[RevisionContent] = []
    at: int | None = revision.pk
    while at is not None:
        found = RevisionContent.objects.filter(pk=at).first()
        if found is None:
            raise ContentNotStored(f"{revision}: its content is not kept any more; the list of revisions shows the oldest one that is kept")
        chain.append(found)
        at = found.base_id
    rulesets = _unpack(Ruleset, chain.pop().packed)
    for content in reversed(chain):
        for name, delta in _unpack(Delta, content.packed).items():
            rulesets[name] = apply(rulesets.get(name, EMPTY), delta)
    return rulesets


def load_rulesets_in_service(revision: Revision) -> dict[int, Ruleset]:
    """Return the rulesets of the revision's gateways by id, whatever these are called now. Without retired gateways.

    Raises ContentNotStored.
    """
    return pick_rulesets_in_service(revision, load_rulesets(revision))


def pick_rulesets_in_service(revision: Revision, rulesets: Rulesets) -> dict[int, Ruleset]:
    """Return these rulesets of the revision by gateway id, without those of retired gateways."""
    known, alive = revision.gateways, set(revision.group.gateways.values_list("pk", flat=True))
    return {known[name]: ruleset for name, ruleset in rulesets.items() if known.get(name) in alive}


def find_delta_between(older: Revision, newer: Revision) -> dict[str, Delta] | None:
    """Return the deltas between two revisions by gateway, for display; None if a whole content lies between them. Costs what changed."""
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
    return {name: reduce(compose_deltas, (part.get(name, Delta()) for part in reversed(deltas)), Delta()) for name in newer.digests}


@transaction.atomic
def delete_contents_before(revision: Revision, at_most: int = ALL) -> int:
    """Delete up to `at_most` contents before the newest whole one that is not newer than `revision`. Return how many.

    Deletes the newest of them first: a content is read from older ones, so what remains can always be read. Keeps what a hold needs.
    """
    group = RevisionContent.objects.filter(revision__group=revision.group_id)
    held = revision.group.holds.filter(released=None).aggregate(oldest=Min("revision"))["oldest"]
    until = min(revision.pk, held) if held else revision.pk
    whole = group.filter(base=None, revision__lte=until).order_by("-pk").values_list("revision", flat=True).first()
    if whole is None:
        return 0
    old = list(group.filter(revision__lt=whole).order_by("-pk").values_list("pk", flat=True)[:at_most])
    return RevisionContent.objects.filter(pk__in=old).delete()[0]


def delete_old_contents(before: datetime, at_most: int) -> int:
    """Delete up to `at_most` contents that are older than `before`, except those that newer contents build on. Return how many."""
    newest_old = Revision.objects.filter(created__lt=before).order_by("group_id", "-pk").distinct("group_id")
    forgotten = 0
    for revision in newest_old:
        forgotten += delete_contents_before(revision, at_most - forgotten)
    return forgotten
