"""After a restore, mails of announcements that were not written yet in the backup are not written: they may have been since."""

from psycopg import sql

from apps.operations.backup.after_restore import register_statement

KEEP_ON_PAGE = sql.SQL("UPDATE public.announcements_announcementrecipient SET delivery = 'page' WHERE delivery = 'waiting'")

register_statement("hold mails of announcements back", lambda _made: KEEP_ON_PAGE)
