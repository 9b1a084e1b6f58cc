"""Bounds of tables that belong to packages, to `apps.lib` or to this app."""

from datetime import datetime, timedelta

from allauth.account.models import EmailConfirmation
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from apps.lib.api.idempotency import KEPT
from apps.lib.models import KeptAnswer
from apps.operations.host_heartbeats import prune_hosts
from apps.operations.models import BackupNote, DatabaseDay, TableDay
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables

CONFIRMATIONS = timedelta(days=7)
YEAR = timedelta(days=365)
FRESH = timedelta(hours=1)  # a session may be listed before its own row is committed


def prune_sessions(now: datetime, at_most: int) -> int:
    """Delete expired sessions."""
    return delete_oldest_batch(Session.objects.filter(expire_date__lt=now), "expire_date", at_most)


def prune_user_sessions(now: datetime, at_most: int) -> int:
    """Delete entries of an account's sign-ins whose session is deleted."""
    there = Session.objects.filter(session_key=OuterRef("session_key"))
    return delete_oldest_batch(UserSession.objects.filter(~Exists(there), created_at__lt=now - FRESH), "created_at", at_most)


def prune_email_confirmations(now: datetime, at_most: int) -> int:
    """Delete expired links for confirming an email address."""
    return delete_oldest_batch(EmailConfirmation.objects.filter(created__lt=now - CONFIRMATIONS), "created", at_most)


def prune_kept_answers(now: datetime, at_most: int) -> int:
    """Delete stored answers of idempotent requests that are too old."""
    return delete_oldest_batch(KeptAnswer.objects.filter(at__lte=now - KEPT), "at", at_most)


def prune_database_days(now: datetime, at_most: int) -> int:
    """Delete sizes of the database that are older than five years."""
    return delete_oldest_batch(DatabaseDay.objects.filter(day__lt=(now - 5 * YEAR).date()), "day", at_most)


def prune_table_days(now: datetime, at_most: int) -> int:
    """Delete sizes of tables that are older than a year."""
    return delete_oldest_batch(TableDay.objects.filter(day__lt=(now - YEAR).date()), "day", at_most)


def prune_backup_notes(now: datetime, at_most: int) -> int:
    """Delete notes of backups that are older than a year, but never the last one: its age would be unknown."""
    last = BackupNote.objects.order_by("-at", "-pk").values("pk")[:1]
    return delete_oldest_batch(BackupNote.objects.filter(at__lt=now - YEAR).exclude(pk__in=last), "at", at_most)


register_pruned_table("sessions.Session", kept=_("until the session ends"), prune=prune_sessions)
register_pruned_table("usersessions.UserSession", kept=_("until the session ends"), prune=prune_user_sessions)
register_pruned_table("account.EmailConfirmation", kept=_("7 days"), prune=prune_email_confirmations)
register_pruned_table("lib.KeptAnswer", kept=_("24 hours"), prune=prune_kept_answers)
register_pruned_table("operations.DatabaseDay", kept=_("5 years"), prune=prune_database_days)
register_pruned_table("operations.TableDay", kept=_("1 year"), prune=prune_table_days)
register_pruned_table("operations.BackupNote", kept=_("1 year"), prune=prune_backup_notes)
register_pruned_table("operations.HostHeartbeat", kept=_("7 days"), prune=prune_hosts)
register_unpruned_tables(TableBoundKind.CODE, "operations.RoleHeartbeat", "operations.JobRecord")
register_unpruned_tables(TableBoundKind.CODE, "operations.PortalReading", "operations.PortalFinding")
register_unpruned_tables(TableBoundKind.CODE, "auth.Permission", "auth.Group", "contenttypes.ContentType")
register_unpruned_tables(TableBoundKind.PEOPLE, "account.EmailAddress", "mfa.Authenticator")
register_unpruned_tables(TableBoundKind.PEOPLE, "socialaccount.SocialApp", "socialaccount.SocialAccount", "socialaccount.SocialToken")
register_unpruned_tables(TableBoundKind.HISTORY, "pghistory.Context")
