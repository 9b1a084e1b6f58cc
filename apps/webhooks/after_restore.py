"""After a restore, webhooks are told of nothing that they may have been told of since the backup.

What waits is failed and can be sent again by a person. Reading of the history begins anew, behind the last event of the backup.
"""

from typing import Final

from psycopg import sql

from apps.operations.backup.after_restore import register_statement

MAY_BE_SENT: Final = "Not sent: the database was restored from a backup, and this may have been sent since."
HOLD_BACK: Final = sql.SQL(
    "UPDATE public.webhooks_delivery SET state = 'failed', ended = now(), claimed_until = NULL, error = {} WHERE state = 'waiting'"
)

register_statement("hold webhooks back", lambda _made: HOLD_BACK.format(MAY_BE_SENT))
register_statement("read history for webhooks anew", lambda _made: sql.SQL("DELETE FROM public.webhooks_position"))
