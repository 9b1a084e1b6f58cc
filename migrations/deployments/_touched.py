"""Triggers that note which objects a statement touched. Frozen: the initial migration imports it, so it must not change once that has been released.

triggers(table, columns, keys): columns are what of the table reaches the gateways; keys say which objects a row `r` touches, as
`('kind', text), …`. Objects that begin and end by time alone also need TIMES, and `timed` of their kind in apps/deployments/rule_kinds.
"""

from django.db import migrations

# What began or ended by time alone is found without reading everything.
TIMES = """
CREATE INDEX {name}_begins ON {table} (lower(valid));
CREATE INDEX {name}_ends ON {table} (upper(valid)) WHERE upper(valid) IS NOT NULL;
"""
NO_TIMES = "DROP INDEX {name}_begins, {name}_ends;"

# Once per statement, however many rows it changes. Rows are compared as sets: a join of the two transition tables would run by a plan
# made for one row. A statement that touches more objects than this leaves one row, which says: read everything.
MOST = 2000
FUNCTION = """
CREATE FUNCTION {table}_touched() RETURNS trigger LANGUAGE plpgsql AS $touched$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {insert};
    ELSIF TG_OP = 'DELETE' THEN
        {delete};
    ELSIF TG_OP = 'UPDATE' THEN
        {update};
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$touched$;
CREATE TRIGGER touched_insert AFTER INSERT ON {table}
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION {table}_touched();
CREATE TRIGGER touched_delete AFTER DELETE ON {table}
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION {table}_touched();
CREATE TRIGGER touched_update AFTER UPDATE ON {table}
    REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION {table}_touched();
CREATE TRIGGER touched_truncate AFTER TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION {table}_touched();
"""
NO_FUNCTION = "DROP FUNCTION {table}_touched CASCADE;"
NOTE = """
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ({rows}) r, LATERAL (VALUES {keys}) k (kind, key) LIMIT {most} + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= {most}
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > {most}
"""
ONE = "SELECT {columns} FROM {rows}"
CHANGED = "(SELECT {columns} FROM gone EXCEPT SELECT {columns} FROM come) UNION ALL (SELECT {columns} FROM come EXCEPT SELECT {columns} FROM gone)"


def note(rows: str, keys: str) -> str:
    return NOTE.format(rows=rows, keys=keys, most=MOST).strip()


def triggers(table: str, columns: str, keys: str) -> migrations.RunSQL:
    statements = {
        "insert": note(ONE.format(columns=columns, rows="come"), keys),
        "delete": note(ONE.format(columns=columns, rows="gone"), keys),
        "update": note(CHANGED.format(columns=columns), keys),
    }
    return migrations.RunSQL(FUNCTION.format(table=table, **statements), NO_FUNCTION.format(table=table))


def times(table: str, name: str) -> migrations.RunSQL:
    """Indexes on the beginnings and ends of the table's `valid`."""
    return migrations.RunSQL(TIMES.format(table=table, name=name), NO_TIMES.format(name=name))
