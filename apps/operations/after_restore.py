"""After a restore, everybody signs in again: a session that was ended since the backup must not live on. Hosts are known anew."""

from psycopg import sql

from apps.operations.backup.after_restore import register_statement

register_statement("end sessions", lambda _made: sql.SQL("DELETE FROM public.django_session"))
register_statement("forget hosts", lambda _made: sql.SQL("DELETE FROM public.operations_hostheartbeat"))
register_statement("forget where sessions were", lambda _made: sql.SQL("DELETE FROM public.usersessions_usersession"))
