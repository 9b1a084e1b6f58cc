"""Revisions for pages: the list, a single one, and previews of what a rollback, release or deploy would change now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import Hold, Revision, RevisionContent, RolloutStep
from apps.deployments.revision_pages import contents, ruleset_comparison
from apps.deployments.revision_pages.change_summary import compute_touched_share, render_kind_name, render_summary
from apps.deployments.revision_pages.contents import ContentNotStored
from apps.deployments.revision_pages.ruleset_comparison import RulesetComparison
from apps.deployments.rollouts.progress import RolloutRow, build_rollout_row
from apps.deployments.selectors import list_gateway_states
from apps.network.models import GatewayGroup
from firewall.policy import PolicyError
from firewall.ruleset import Ruleset


@dataclass(frozen=True)
class RevisionRow:
    """A revision in the list: its rollout, whether its content is stored, and which gateways run it now."""

    revision: Revision
    row: RolloutRow | None
    kept: bool
    runs: tuple[str, ...]


@dataclass(frozen=True)
class GatewayConfirmation:
    """A gateway's confirmation of a revision: its time (None: never), and whether the gateway runs it now."""

    gateway: str
    confirmed: datetime | None
    runs: bool


@dataclass(frozen=True)
class RulesetPreview:
    """Preview of a change: the comparison, or why it is not available."""

    compared: RulesetComparison | None
    problem: str = ""


def list_revisions(which: str) -> QuerySet[Revision]:
    """Return revisions, newest first, without the long text of their deltas: all, the `kept` ones, or the `rollback`s."""
    kept = Exists(RevisionContent.objects.filter(revision=OuterRef("pk")))
    found = Revision.objects.select_related("by", "group", "again").prefetch_related("rollouts__steps__gateway", "rollouts__stopped_by")
    found = found.annotate(kept=kept, described=~Q(delta="")).defer("delta").order_by("-id")
    return found.filter({"kept": Q(kept=True), "rollback": Q(again__isnull=False)}.get(which, Q()))


def count_revisions() -> dict[str, int]:
    """Return the number of revisions: in all, stored, and rollbacks."""
    revisions = Revision.objects.order_by()
    return {
        "all": revisions.count(),
        "kept": RevisionContent.objects.count(),
        "rollback": revisions.filter(again__isnull=False).count(),
    }


def build_revision_rows(found: Iterable[Revision], now: datetime) -> list[RevisionRow]:
    """Build the rows of the list, with two more queries, however many there are."""
    revisions = list(found)
    runs: dict[int | None, list[str]] = {}
    for state in list_gateway_states().filter(revision__in=revisions):
        runs.setdefault(state.revision_id, []).append(state.gateway.name)
    return [_build_revision_row(revision, tuple(runs.get(revision.pk, ())), now) for revision in revisions]


def _build_revision_row(revision: Revision, runs: tuple[str, ...], now: datetime) -> RevisionRow:
    last = max(revision.rollouts.all(), key=lambda rollout: rollout.pk, default=None)
    if last:
        last.revision = revision
        last.described = revision.described  # type: ignore[attr-defined]  # annotated, as in `list_rollouts_in_state`
    return RevisionRow(revision, build_rollout_row(last, now) if last else None, bool(revision.kept), runs)  # type: ignore[attr-defined]  # annotated


def list_confirmations(revision: Revision) -> list[GatewayConfirmation]:
    """Return the confirmation of each gateway that the revision was meant for."""
    steps = RolloutStep.objects.filter(rollout__revision=revision).order_by("rollout")
    confirmed = {step.gateway_id: step.confirmed for step in steps if step.confirmed}
    runs = set(list_gateway_states().filter(revision=revision).values_list("pk", flat=True))
    known = {name: revision.gateways.get(name) for name in sorted(revision.digests)}
    return [GatewayConfirmation(name, confirmed.get(pk) if pk else None, pk in runs) for name, pk in known.items()]


def find_running_revision(group: GatewayGroup) -> Revision | None:
    """Return the newest revision that a gateway of the group has confirmed and runs."""
    return Revision.objects.filter(pk__in=list_gateway_states().filter(gateway__group=group).values("revision")).order_by("-pk").first()


def find_oldest_kept() -> Revision | None:
    """Return the oldest revision that a rollback can go to."""
    return Revision.objects.exclude(content=None).order_by("pk").first()


def explain_not_kept(revisions: Sequence[Revision]) -> str:
    """Explain why these revisions cannot be read. The content of a revision is stored a moment after gateways have confirmed it."""
    lost = [revision for revision in revisions if not contents.is_content_stored(revision)]
    if soon := [revision for revision in lost if contents.has_no_newer_content(revision)]:
        return _("The content of %(revision)s is still being saved. Look again in a moment.") % {"revision": soon[0]}
    missing = ", ".join(map(str, lost))
    oldest = find_oldest_kept()
    words = _("The content of %(revisions)s is not kept any more.") % {"revisions": missing}
    return words + (" " + _("The oldest revision that is kept is %(revision)s.") % {"revision": oldest} if oldest else "")


# --- Previews


def preview_comparison(before: Revision, after: Revision, gateway: str = "") -> RulesetPreview:
    """Preview the difference between two revisions."""
    try:
        return RulesetPreview(ruleset_comparison.compare_revisions(before, after, read_database_clock(), gateway))
    except ContentNotStored:
        return RulesetPreview(None, explain_not_kept([before, after]))


def preview_rollback(revision: Revision) -> RulesetPreview:
    """Preview what a rollback to this revision would change now."""
    now = find_running_revision(revision.group)
    if now is None:
        return RulesetPreview(None, _("No gateway of this group has a ruleset from the portal yet."))
    return preview_comparison(now, revision)


def preview_release(hold: Hold) -> RulesetPreview:
    """Preview what would go out if the hold were released."""
    now = find_running_revision(hold.group) or hold.revision
    try:
        return RulesetPreview(
            ruleset_comparison.compare_rulesets(contents.load_rulesets(now), _compile_desired(hold.group), read_database_clock())
        )
    except ContentNotStored:
        return RulesetPreview(None, explain_not_kept([now]))
    except PolicyError as error:
        return RulesetPreview(None, _("The desired state cannot be deployed: %(error)s") % {"error": error})


def preview_deploy(group: GatewayGroup, gateway: str = "") -> RulesetPreview:
    """Preview what a deploy would change now, hold or not: from the group's last confirmed revision to what the database asks for."""
    now = find_running_revision(group)
    try:
        before, after = contents.load_rulesets(now) if now else {}, _compile_desired(group)
        if not before and not after:
            return RulesetPreview(None, _("There is no gateway yet."))
        return RulesetPreview(ruleset_comparison.compare_rulesets(before, after, read_database_clock(), gateway))
    except ContentNotStored:
        return RulesetPreview(None, explain_not_kept([now] if now else []))
    except PolicyError as error:
        return RulesetPreview(None, _("The desired state cannot be deployed: %(error)s") % {"error": error})


def _compile_desired(group: GatewayGroup) -> dict[str, Ruleset]:
    names = dict(group.gateways.values_list("pk", "name"))
    return {names[pk]: ruleset for pk, ruleset in compute_desired_state(group).rulesets.items()}


def build_preview_context(preview: RulesetPreview) -> dict[str, object]:
    """Build the context of deployments/_compared.html."""
    compared = preview.compared
    if compared is None:
        return {"problem": preview.problem}
    lines = [(render_kind_name(line.kind), line, compute_touched_share(line), 0) for line in compared.lines]
    words = render_summary(compared.lines, rules=compared.chain_count)
    return {"compared": compared, "words": words, "lines": lines, "no_totals": not compared.totals}


def read_database_clock() -> int:
    """Return the database's time in Unix seconds; expiry in rulesets is measured by it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::bigint")
        (now,) = cursor.fetchone()
    return int(now)
