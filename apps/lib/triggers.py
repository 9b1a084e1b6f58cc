"""Triggers that several tables share."""

import pgtrigger


def stamp_transaction() -> pgtrigger.Trigger:
    """Note in `changed_in` and `changed_at` which transaction wrote the row last: a snapshot that saw it has the row as it is now.

    Whoever writes, ORM or raw SQL, a deploy can so be asked exactly what it contains.
    """
    return pgtrigger.Trigger(
        name="stamp_transaction",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
    )
