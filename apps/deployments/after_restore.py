"""After a restore, gateways run newer rulesets than the database knows: nothing is sent until a person agrees.

What the backup believed about gateways is forgotten, and its open rollouts are over.
"""

from typing import Final, LiteralString

from psycopg import sql

from apps.operations.backup.after_restore import StatementBuilder, register_statement

OVER: Final = "The database was restored from a backup while this rollout was under way in it."

STATEMENTS: Final[dict[str, LiteralString]] = {
    "deployments 1: forget an earlier restore that nobody agreed to": "DELETE FROM public.deployments_databaserestore WHERE agreed IS NULL",
    "deployments 2: hold gateways": "INSERT INTO public.deployments_databaserestore (backup_made) VALUES ({made})",
    "deployments 3: lose steps": "UPDATE public.deployments_rolloutstep SET state = 'lost', error = {over}"
    " WHERE state IN ('sending', 'probing', 'confirming', 'reverting', 'asking')",
    "deployments 4: skip steps": "UPDATE public.deployments_rolloutstep SET state = 'skipped' WHERE state = 'waiting'",
    "deployments 5: end rollouts": "UPDATE public.deployments_rollout SET state = 'failed', finished = now(), lease_until = NULL,"
    " error = {over}, wish = '' WHERE state IN ('queued', 'applying', 'paused')",
    "deployments 6: forget what gateways ran": "UPDATE public.deployments_gatewaystate SET digest = '', revision_id = NULL,"
    " snapshot = NULL, since = NULL, drift = NULL, drift_since = NULL",
}


def _make_builder(text: LiteralString) -> StatementBuilder:
    return lambda made: sql.SQL(text).format(made=made, over=OVER)


for name, text in STATEMENTS.items():
    register_statement(name, _make_builder(text))
