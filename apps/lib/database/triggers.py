"""Triggers that several tables share."""

import pgtrigger


def stamp_transaction(*columns: str) -> pgtrigger.Trigger:
    """Note in `changed_in` and `changed_at` which transaction wrote the row last: a snapshot that saw it has the row as it is now.

    columns: those that reach the gateways, where others change too; without any, each write counts.
    Whoever writes, ORM or raw SQL, a deploy can so be asked exactly what it contains.
    """
    return pgtrigger.Trigger(
        name="stamp_transaction",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        condition=pgtrigger.AnyChange(*columns) if columns else None,
        func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
    )
