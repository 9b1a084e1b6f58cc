"""After a restore, everybody signs in again: a session that was ended since the backup must not live on. Hosts are known anew.

Ids of transactions are those of the server that the backup was made on. Another server counts from the beginning, so they would lie in
its future: what they wrote would count as not seen for months, and each rollout as older than the last.
"""

from typing import Final

from psycopg import sql

from apps.operations.backup.after_restore import register_statement

# 3 is the first id of all, FirstNormalTransactionId: every snapshot has seen it. Triggers would write history, and the present id.
OWN_TRANSACTIONS: Final = """
DO $$
DECLARE
    place record;
BEGIN
    SET CONSTRAINTS ALL IMMEDIATE;
    FOR place IN
        SELECT attrelid::regclass AS relation, quote_ident(attname) AS name, atttypid = 'xid8'::regtype AS is_id
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT attisdropped
            AND atttypid IN ('xid8'::regtype, 'pg_snapshot'::regtype)
    LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', place.relation);
        IF place.is_id THEN
            EXECUTE format('UPDATE %1$s SET %2$s = ''3'' WHERE %2$s > pg_current_xact_id()', place.relation, place.name);
        ELSE
            EXECUTE format(
                'UPDATE %1$s SET %2$s = pg_current_snapshot() WHERE pg_snapshot_xmax(%2$s) > pg_current_xact_id()',
                place.relation, place.name
            );
        END IF;
        EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', place.relation);
    END LOOP;
END $$
"""

register_statement("count transactions by this server", lambda _made: sql.SQL(OWN_TRANSACTIONS))
register_statement("end sessions", lambda _made: sql.SQL("DELETE FROM public.django_session"))
register_statement("forget hosts", lambda _made: sql.SQL("DELETE FROM public.operations_hostheartbeat"))
register_statement("forget where sessions were", lambda _made: sql.SQL("DELETE FROM public.usersessions_usersession"))
