"""After a restore, no mail that waited in the backup is sent by itself: it may have been sent since. A person looks through them."""

from typing import Final

from django.utils.translation import gettext_noop
from psycopg import sql

from apps.operations.backup.after_restore import register_statement

MAY_BE_SENT: Final = gettext_noop("Not sent: the database was restored from a backup, and this mail may have been sent since.")
HOLD_BACK: Final = sql.SQL(
    "UPDATE public.mail_message SET state = 'failed', ended = now(), claimed_until = NULL, error = {} WHERE state = 'waiting'"
)

register_statement("hold mails back", lambda _made: HOLD_BACK.format(MAY_BE_SENT))
