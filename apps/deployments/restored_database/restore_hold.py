"""Whether a restore holds the gateways back; and the agreement that lets them go."""

from functools import cache

from django.db.models import QuerySet
from django.db.models.functions import Least, Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.models import Rollout
from apps.deployments.restored_database.comparison_digest import digest_open_comparison
from apps.deployments.restored_database.models import DatabaseRestore
from apps.lib.database.compiled_query import CompiledQuery
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.web.frame_reads import read_with_frame
from apps.network.models import GatewayGroup


def find_last_restore() -> DatabaseRestore | None:
    """Return the last restore, whether agreed or not."""
    return next(iter(_compile_last_restore().read()), None)


@cache
def _compile_last_restore() -> CompiledQuery[DatabaseRestore]:
    return CompiledQuery(DatabaseRestore.objects.select_related("agreed_by")[:1])


def find_open_restore() -> DatabaseRestore | None:
    """Return the restore that holds all gateways back, if there is one."""
    return next(iter(_list_open()), None)


@read_with_frame
def _list_open() -> QuerySet[DatabaseRestore]:
    return DatabaseRestore.objects.filter(agreed=None)[:1]


def has_to_adopt_tokens(restore: DatabaseRestore, group: GatewayGroup) -> bool:
    """True until the group's first rollout after the agreement: gateways obey tokens that the restored database has not drawn yet."""
    return restore.agreed is not None and not Rollout.objects.filter(group=group, created__gte=restore.agreed).exists()


def refuse_while_restored() -> None:
    """Raise Problem while a restore holds the gateways back."""
    if find_open_restore():
        raise Problem(_("The database was restored from a backup. Look first at what differs on the gateways, then continue."))


def agree(restore: DatabaseRestore, *, by: User | None, seen: str | None) -> None:
    """Let the gateways get what the restored database asks for.

    by: None for a command. seen: digest of the comparison that the person has seen (comparison_digest.py), None to agree to any.
    Raises Conflict if it has changed since, or if somebody has agreed already. The restore may have been while the clock was ahead.
    """
    if seen is not None and restore.agreed is None and seen != digest_open_comparison(restore):
        raise Conflict(_("What differs has changed since you looked. Look at it again, then continue."))
    agreed = {"restored": Least("restored", Now()), "agreed": Now(), "agreed_by": by}
    if DatabaseRestore.objects.filter(pk=restore.pk, agreed=None).update(**agreed) != 1:
        raise Conflict(_("Somebody has agreed to this already."))
    enqueue_task("workers.reconcile", by.pk if by else None, True)
