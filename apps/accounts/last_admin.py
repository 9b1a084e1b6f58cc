"""There is always somebody who can give roles: the database refuses to lose the last network admin who can sign in."""

import pgtrigger
from django.db import connection

CONSTRAINT = "user_last_network_admin"
ADMINISTERS = "{row}.is_active AND {row}.roles @> ARRAY['network_admin']::varchar[]"


def build_last_admin_trigger() -> pgtrigger.Trigger:
    """One change of network admins after the other, so that the last two cannot remove each other at once."""
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
    """Within a transaction: whoever else changes roles waits for its end."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [CONSTRAINT])
