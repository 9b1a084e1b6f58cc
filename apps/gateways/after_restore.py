"""After a restore, switches of roles and upgrades of agents that were under way in the backup are over: nobody knows how they ended."""

from psycopg import sql

from apps.gateways.roles.outcomes import Outcome
from apps.operations.backup.after_restore import register_statement

END = sql.SQL(
    "UPDATE public.gateways_roleswitch SET state = 'failed', ended = now(), outcome = {}, details = '{{}}'"
    " WHERE state IN ('waiting', 'running')"
)
# A backup of a release without upgrades has no such table; the branch is not planned then.
STOP = sql.SQL(
    "DO $$ BEGIN IF to_regclass('public.gateways_agentupgrade') IS NOT NULL THEN"
    " UPDATE public.gateways_agentupgradestep SET state = 'skipped', since = now() WHERE state IN ('waiting', 'sending', 'trial');"
    " UPDATE public.gateways_agentupgrade SET state = 'stopped', ended = now(), lease_until = NULL WHERE state = 'running';"
    " END IF; END $$"
)

register_statement("stop upgrades of agents", lambda _made: STOP)
register_statement("end switches of roles", lambda _made: END.format(Outcome.LOST.value))
