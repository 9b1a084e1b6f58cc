"""Triggers shared by several tables."""

import pgtrigger


def build_statement_trigger(name: str, operation: pgtrigger.Operation, statements: str, **tables: str) -> pgtrigger.Trigger:
    """Return a trigger that runs once per statement, after it, with its rows in transition tables of these names (old, new)."""
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=operation,
        referencing=pgtrigger.Referencing(**tables),  # type: ignore[no-untyped-call]  # pgtrigger has no annotation here
        func=statements + "RETURN NULL;",
    )


def build_stamp_trigger(*columns: str) -> pgtrigger.Trigger:
    """Return a trigger that records in `changed_in` and `changed_at` which transaction last wrote the row, and when.

    A snapshot that sees this transaction has the row in its current state. The trigger also fires for raw SQL, so that the exact
    contents of a deployment can be determined. columns: those that reach the gateways, if others change, too; without any, each
    write counts.
    """
    return pgtrigger.Trigger(
        name="stamp_transaction",
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        condition=pgtrigger.AnyChange(*columns) if columns else None,
        func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
    )
