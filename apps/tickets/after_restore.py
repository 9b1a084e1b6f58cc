"""After a restore, bulk answers do not go on by themselves: tickets that had no answer yet in the backup may have got one since."""

from typing import Final

from django.utils.translation import gettext_noop
from psycopg import sql

from apps.operations.backup.after_restore import register_statement

MAY_BE_ANSWERED: Final = gettext_noop("Not answered: the database was restored from a backup, and this answer may have been sent since.")
LEAVE_OUT: Final = sql.SQL("UPDATE public.tickets_bulkitem SET done_at = now(), why = {} WHERE done_at IS NULL")

register_statement("leave tickets of bulk answers out", lambda _made: LEAVE_OUT.format(MAY_BE_ANSWERED))
