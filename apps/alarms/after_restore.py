"""After a restore, messages to channels that waited in the backup are not sent.

Alarms that were open stay open: if their cause is still there, it is told as usual; else they end.
"""

from typing import Final

from psycopg import sql

from apps.operations.backup.after_restore import register_statement

MAY_BE_SENT: Final = "Not sent: the database was restored from a backup, and this may have been sent since."
HOLD_BACK: Final = sql.SQL(
    "UPDATE public.alarms_channelmessage SET state = 'failed', ended = now(), claimed_until = NULL, error = {} WHERE state = 'waiting'"
)

register_statement("hold messages to channels back", lambda _made: HOLD_BACK.format(MAY_BE_SENT))
