"""Write services for ban lists and single bans (`apps.bans.feed_import` imports whole feeds).

Every refusal is a sentence that names both sides and an alternative. Every write starts a reconciliation with the gateways after
its commit.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.bans.feed_parser import LONGEST_COMMENT, tidy_comment
from apps.bans.models import Ban, BanList, Direction
from apps.bans.own_networks import NamedNetwork, refuse_own_network
from apps.bans.prefixes import UnbannablePrefix, parse_ban_prefix, validate_length
from apps.bans.refusal_texts import explain_fault
from apps.lib.database.id_arrays import build_ids_filter
from apps.lib.database.query_limits import lift_statement_limit
from apps.lib.database.validity import check_not_too_far_ahead
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Prefix
from apps.lib.ui import formats


def create_list(*, name: str, description: str = "", enabled: bool = True, by: User | None) -> BanList:
    """Create an empty list. Raises Problem if the name is missing, too long or taken."""
    name = _validate_list_name(name)
    try:
        with transaction.atomic():
            made = BanList.objects.create(name=name, description=tidy_comment(description), enabled=enabled)
            enqueue_deploy(by)
    except IntegrityError as error:
        raise _explain_name_conflict(error, name) from error
    return made


def change_list(*, list: BanList, version: int, name: str, description: str, enabled: bool, by: User | None) -> BanList:
    """Change name, description, and whether the list is on. Raises Conflict if it changed since `version`, Problem like `create_list`."""
    name = _validate_list_name(name)
    current = BanList.objects.filter(pk=list.pk, version=version)
    try:
        with transaction.atomic():
            if not current.update(name=name, description=tidy_comment(description), enabled=enabled, version=F("version") + 1):
                raise Conflict(
                    _("This list was changed or deleted by someone else while you were editing. Look at it as it is now, then save again.")
                )
            enqueue_deploy(by)
    except IntegrityError as error:
        raise _explain_name_conflict(error, name) from error
    list.refresh_from_db()
    return list


def delete_list(*, list: BanList, by: User | None) -> int:
    """Delete the list and all its bans; return the number of bans. Their history stays. Deleting it twice is harmless."""
    with transaction.atomic():
        lift_statement_limit()
        bans, _per_model = Ban.objects.filter(list=list).delete()
        BanList.objects.filter(pk=list.pk).delete()
        enqueue_deploy(by)
    return bans


def ban_prefix(
    *,
    list: BanList,
    prefix: Prefix | str,
    comment: str = "",
    expires: datetime | None = None,
    direction: str = Direction.BOTH,
    author: User | None,
) -> Ban:
    """Ban a prefix from now on. Raises Problem if it is not a prefix, too wide, one of our networks, or on the list already."""
    wanted = validate_prefix(prefix)
    validate_comment_and_end(comment, expires)
    given = {"comment": tidy_comment(comment), "expires": expires, "direction": parse_direction(direction)}
    try:
        with transaction.atomic():
            made = Ban.objects.create(list=list, prefix=wanted, author=author, **given)
            enqueue_deploy(author)
    except IntegrityError as error:
        raise _explain_integrity_error(error, list, wanted) from error
    made.refresh_from_db()
    return made


def change_ban(*, ban: Ban, version: int, comment: str, expires: datetime | None, direction: str | None = None, by: User | None) -> Ban:
    """Change comment, end and direction (None: unchanged). Raises Conflict if the ban changed since `version`."""
    validate_comment_and_end(comment, expires)
    given = {
        "comment": tidy_comment(comment),
        "expires": expires,
        "direction": parse_direction(ban.direction if direction is None else direction),
    }
    with transaction.atomic():
        current = Ban.objects.filter(pk=ban.pk, version=version)
        if not current.update(**given, version=F("version") + 1):
            raise build_conflict()
        enqueue_deploy(by)
    ban.refresh_from_db()
    return ban


def build_conflict() -> Conflict:
    return Conflict(_("This ban was changed or lifted by someone else while you were editing. Look at it as it is now, then save again."))


def lift_ban(*, ban: Ban, by: User | None) -> None:
    """End a ban now; its history and its hits stay. Lifting it twice is harmless."""
    lift_bans(bans=[ban.pk], by=by)


def lift_bans(*, bans: Collection[int], by: User | None) -> int:
    """End the bans with these ids, all or none; return how many existed."""
    with transaction.atomic():
        lift_statement_limit()
        lifted, _per_model = Ban.objects.filter(build_ids_filter(bans)).delete()
        enqueue_deploy(by)
    return lifted


def validate_prefix(prefix: Prefix | str, *, ours: bool = False, own: Sequence[NamedNetwork] | None = None) -> Prefix:
    """Return the prefix if it can be banned here. ours: accept our own networks too. own: our networks, if they are read already.

    Raises Problem.
    """
    text = str(prefix).strip()
    try:
        wanted = parse_ban_prefix(text) if isinstance(prefix, str) else validate_length(prefix)
        if not ours:
            refuse_own_network(wanted, own)
    except UnbannablePrefix as why:
        raise Problem(
            explain_fault(why.fault, text, why.offer, why.culprit), "prefix", offer=why.offer, culprit=why.culprit or None
        ) from why
    return wanted


def parse_direction(given: str) -> Direction:
    """Return the direction that the text names. Raises Problem."""
    try:
        return Direction(given)
    except ValueError as error:
        text = _("“%(given)s” is not a direction. Use in (connections from there), out (connections to there) or both.")
        raise Problem(text % {"given": given}, "direction", offer=Direction.BOTH) from error


def validate_comment_and_end(comment: str, expires: datetime | None) -> None:
    """Raise Problem if the comment is too long, or the end has passed or is too far away."""
    if len(comment.strip()) > LONGEST_COMMENT:
        raise Problem(
            _("The comment has %(length)d characters; at most %(limit)d are allowed.")
            % {"length": len(comment.strip()), "limit": LONGEST_COMMENT},
            "comment",
        )
    check_not_too_far_ahead(expires, "expires")
    if expires is not None and expires <= timezone.now():
        text = _("The end %(end)s has passed. Choose a later one, or none for a permanent ban.")
        raise Problem(text % {"end": formats.format_full_time(expires)}, "expires")


def _validate_list_name(name: str) -> str:
    name = tidy_comment(name)
    if not name:
        raise Problem(_("A list needs a name."), "name")
    if len(name) > 60:
        raise Problem(_("The name has %(length)d characters; at most 60 are allowed.") % {"length": len(name)}, "name", offer=name[:60])
    return name


def _explain_name_conflict(error: IntegrityError, name: str) -> Problem:
    holder = BanList.objects.filter(name=name).first()
    if holder is None:
        raise error
    return Problem(_("There is already a list called “%(name)s”.") % {"name": name}, "name", culprit=holder)


def _explain_integrity_error(error: IntegrityError, list: BanList, prefix: Prefix) -> Problem:
    """Return the sentence for a refusal by the database.

    A violation of any other constraint is a fault of the portal, and raised unchanged.
    """
    if "ban_once_per_list" not in str(error):
        raise error
    there = Ban.objects.filter(list=list, prefix=prefix).first()
    text = _("%(prefix)s is already on “%(list)s” as ban %(id)d (%(comment)s).")
    facts = {"prefix": prefix, "list": list, "id": there.pk if there else 0, "comment": (there and there.comment) or _("no comment")}
    return Problem(text % facts, "prefix", culprit=there)


def enqueue_deploy(by: User | None) -> None:
    """Enqueue a reconciliation of all gateways after the commit: a ban concerns each of them."""
    enqueue_task("workers.reconcile", by.pk if by else None)
