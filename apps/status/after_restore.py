"""After a restore, mails about updates of incidents that were not written yet in the backup are not written: they may have been since."""

from typing import Final

from psycopg import sql

from apps.operations.backup.after_restore import register_statement

KEEP_ON_PAGE: Final = sql.SQL("UPDATE public.status_incidentupdate SET notify = false WHERE notify AND mailed IS NULL")

register_statement("hold mails of incidents back", lambda _made: KEEP_ON_PAGE)
