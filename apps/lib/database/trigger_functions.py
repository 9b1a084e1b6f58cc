"""Two functions that triggers of pgtrigger and pghistory call for each row, without their exception blocks.

The packages' own versions read a setting that most sessions do not have, and catch the error. Then PostgreSQL rolls back a
subtransaction, for which it looks through all foreign key checks that are still pending (trigger.c, AfterTriggerEndSubXact): the time
grows with the square of the rows, and 100,000 members in one transaction took 32 s instead of 7.
"""

from typing import Any, Final

from django.db import connections

FUNCTIONS: Final = """
    CREATE OR REPLACE FUNCTION _pgtrigger_should_ignore(trigger_name name) RETURNS boolean LANGUAGE sql STABLE AS $$
        SELECT coalesce(trigger_name = ANY(nullif(current_setting('pgtrigger.ignore', true), '')::text[]), false)
    $$;
    CREATE OR REPLACE FUNCTION _pgh_attach_context() RETURNS uuid LANGUAGE plpgsql AS $$
    DECLARE
        context uuid := nullif(current_setting('pghistory.context_id', true), '');
        told jsonb := nullif(current_setting('pghistory.context_metadata', true), '');
    BEGIN
        IF context IS NULL OR told IS NULL THEN
            RETURN NULL;
        END IF;
        INSERT INTO pghistory_context (id, metadata, created_at, updated_at) VALUES (context, told, now(), now())
            ON CONFLICT (id) DO UPDATE SET metadata = EXCLUDED.metadata, updated_at = EXCLUDED.updated_at
            WHERE pghistory_context.metadata <> EXCLUDED.metadata;
        RETURN context;
    END $$;
"""


def install_trigger_functions(*, using: str, **_: Any) -> None:
    """Replace the packages' versions, which each `migrate` installs again. A receiver of `post_migrate`, after theirs."""
    with connections[using].cursor() as cursor:
        cursor.execute(FUNCTIONS)
