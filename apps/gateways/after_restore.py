"""After a restore, switches of roles that were under way in the backup are over: nobody knows how they ended."""

from psycopg import sql

from apps.gateways.roles.outcomes import Outcome
from apps.operations.backup.after_restore import register_statement

END = sql.SQL(
    "UPDATE public.gateways_roleswitch SET state = 'failed', ended = now(), outcome = {}, details = '{{}}'"
    " WHERE state IN ('waiting', 'running')"
)

register_statement("end switches of roles", lambda _made: END.format(Outcome.LOST.value))
