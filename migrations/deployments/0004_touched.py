from django.db import migrations

TABLE = """
CREATE TABLE deployments_touched (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    kind text NOT NULL,
    key text NOT NULL DEFAULT ''
);
CREATE INDEX touched_by_transaction ON deployments_touched (xid);
"""

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

# Of each table what reaches the gateways, and which objects a row touches.
TABLES = {
    "network_holding": (
        "id, prefix, group_id, kind, member_id, valid",
        "('holding', r.id::text), ('address', r.prefix::text)",
    ),
    "nat_natmapping": ("id, holding_id, public, valid", "('holding', r.holding_id::text)"),
    "nat_portforward": (
        "id, holding_id, public, protocol, public_port, private_port, valid, enabled",
        "('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port)",
    ),
    "bans_ban": ("id, list_id, prefix, comment, expires", "('ban', r.prefix::text)"),
    "bans_banlist": ("id, enabled", "('list', r.id::text)"),
    "members_member": ("id, state", "('member', r.id::text)"),
    # The mapping of its probe; that of no probe is nobody's.
    "network_gateway": ("id, probe_source4, probe_public4", "('address', host(coalesce(r.probe_source4, '0.0.0.0')))"),
}
TIMED = {"network_holding": "holding", "nat_natmapping": "natmapping", "nat_portforward": "portforward"}


def note(rows: str, keys: str) -> str:
    return NOTE.format(rows=rows, keys=keys, most=MOST).strip()


def triggers(table: str, columns: str, keys: str) -> migrations.RunSQL:
    statements = {
        "insert": note(ONE.format(columns=columns, rows="come"), keys),
        "delete": note(ONE.format(columns=columns, rows="gone"), keys),
        "update": note(CHANGED.format(columns=columns), keys),
    }
    return migrations.RunSQL(FUNCTION.format(table=table, **statements), NO_FUNCTION.format(table=table))


class Migration(migrations.Migration):
    """Which objects each transaction touched of what reaches the gateways, whoever wrote: ORM, raw SQL, COPY, cascade."""

    dependencies = [
        ("deployments", "0003_rollouts_that_go_back"),
        ("members", "0002_found_fast"),
        ("network", "0006_probes"),
        ("nat", "0003_by_public_side"),
        ("bans", "0002_uploads"),
    ]
    operations = [
        migrations.RunSQL(TABLE, "DROP TABLE deployments_touched"),
        *(triggers(table, *of) for table, of in TABLES.items()),
        *(migrations.RunSQL(TIMES.format(table=table, name=name), NO_TIMES.format(name=name)) for table, name in TIMED.items()),
    ]
