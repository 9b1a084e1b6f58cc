"""Protection of the last network admin: the database refuses to lose the last one who can sign in, so roles can always be given."""

import pgtrigger
from django.db import connection

CONSTRAINT = "user_last_network_admin"
ADMINISTERS = "{row}.is_active AND {row}.roles @> ARRAY['network_admin']::varchar[]"


def build_last_admin_trigger() -> pgtrigger.Trigger:
    """Build the trigger.

    It takes a lock, so network admins are changed one after the other: the last two cannot remove each other at once.
    """
    was, stays = ADMINISTERS.format(row="OLD"), ADMINISTERS.format(row="NEW")
    return pgtrigger.Trigger(
        name="last_network_admin",
        when=pgtrigger.Before,
        operation=pgtrigger.Update | pgtrigger.Delete,
        func=f"""
            IF NOT ({was}) OR (TG_OP = 'UPDATE' AND {stays}) THEN
                RETURN COALESCE(NEW, OLD);
            END IF;
            PERFORM pg_advisory_xact_lock(hashtext('{CONSTRAINT}'));
            IF NOT EXISTS (SELECT FROM accounts_user u WHERE u.id <> OLD.id AND {ADMINISTERS.format(row="u")}) THEN
                RAISE EXCEPTION 'the last network admin' USING ERRCODE = 'check_violation', CONSTRAINT = '{CONSTRAINT}';
            END IF;
            RETURN COALESCE(NEW, OLD);
        """,
    )


def lock_role_changes() -> None:
    """Make other changes of roles wait for the end of the running transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [CONSTRAINT])
