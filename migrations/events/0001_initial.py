import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields

TELL = """
CREATE FUNCTION events_tell(kind text, object bigint, state text, member bigint, own boolean) RETURNS void LANGUAGE sql AS $tell$
    INSERT INTO events_event (kind, object_id, state, member_id, own) VALUES (kind, object, state, member, own)
$tell$;
CREATE FUNCTION events_wake() RETURNS trigger LANGUAGE plpgsql AS $wake$
BEGIN
    PERFORM pg_notify('netzwart_events', '');
    RETURN NULL;
END
$wake$;
CREATE TRIGGER wake AFTER INSERT ON events_event FOR EACH STATEMENT EXECUTE FUNCTION events_wake();
"""
NO_TELL = """
DROP TRIGGER wake ON events_event;
DROP FUNCTION events_wake();
DROP FUNCTION events_tell(text, bigint, text, bigint, boolean);
"""

# A function that tells, and when it is called: of each table what people wait for, and not each write.
TRIGGER = """
CREATE FUNCTION {table}_tells() RETURNS trigger LANGUAGE plpgsql AS $tells$
{body}
$tells$;
CREATE TRIGGER tells_insert AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_tells();
CREATE TRIGGER tells_update AFTER UPDATE ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION {table}_tells();
"""
NO_TRIGGER = "DROP FUNCTION {table}_tells CASCADE;"

PLAIN = "BEGIN PERFORM events_tell('{kind}', NEW.{pk}, NEW.state, NULL, false); RETURN NULL; END"
ROLLOUT = PLAIN.format(kind="rollout", pk="id")
STEP = PLAIN.format(kind="step", pk="rollout_id")
APPROVAL = PLAIN.format(kind="approval", pk="id")
HOLD = """
BEGIN
    PERFORM events_tell('hold', NEW.id, CASE WHEN NEW.released IS NULL THEN 'held' ELSE 'released' END, NULL, false);
    RETURN NULL;
END
"""
# Of a ticket its member is told what the own page shows, and nothing of what staff does among itself.
TICKET = """
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM events_tell('ticket', NEW.id, NEW.state, NEW.member_id, true);
    ELSE
        PERFORM events_tell('ticket', NEW.id, CASE WHEN NEW.assignee_id IS DISTINCT FROM OLD.assignee_id AND NEW.assignee_id IS NOT NULL
            THEN 'taken' ELSE NEW.state END, NEW.member_id, NEW.state <> OLD.state);
    END IF;
    RETURN NULL;
END
"""
MESSAGE = """
BEGIN
    PERFORM events_tell('ticket', NEW.ticket_id, CASE NEW.kind WHEN 'answer' THEN 'answered' WHEN 'note' THEN 'noted' ELSE 'written' END,
        (SELECT member_id FROM tickets_ticket WHERE id = NEW.ticket_id), NEW.kind <> 'note');
    RETURN NULL;
END
"""
PRESENCE = """
BEGIN
    PERFORM events_tell('presence', NEW.ticket_id, CASE WHEN NEW.writing THEN 'writing' ELSE 'looking' END, NULL, false);
    RETURN NULL;
END
"""
GONE = """
CREATE FUNCTION events_presence_gone() RETURNS trigger LANGUAGE plpgsql AS $tells$
BEGIN
    PERFORM events_tell('presence', OLD.ticket_id, 'gone', NULL, false);
    RETURN NULL;
END
$tells$;
CREATE TRIGGER tells_delete AFTER DELETE ON events_presence FOR EACH ROW EXECUTE FUNCTION events_presence_gone();
"""
NO_GONE = "DROP FUNCTION events_presence_gone CASCADE;"
# What a gateway has now that its last snapshot did not see: the notes of deployments/0001 say which objects that are. Of few of them
# each is told, of many that there are several. It is comfort: nothing that goes wrong here keeps a gateway from being confirmed.
GATEWAY = """
DECLARE
    few CONSTANT int := 100;
    noted text[];
BEGIN
    IF NEW.unreachable_since IS NOT NULL THEN
        PERFORM events_tell('gateway', NEW.gateway_id, 'unreachable', NULL, false);
        RETURN NULL;
    END IF;
    PERFORM events_tell('gateway', NEW.gateway_id, CASE WHEN NEW.drift_since IS NULL THEN 'confirmed' ELSE 'drifted' END, NULL, false);
    IF TG_OP = 'INSERT' THEN
        RETURN NULL;
    END IF;
    noted := ARRAY(
        SELECT DISTINCT kind || ' ' || key FROM deployments_touched
        WHERE kind IN ('forward', 'pinhole', 'holding', 'everything') AND xid >= pg_snapshot_xmin(OLD.snapshot)
            AND NOT pg_visible_in_snapshot(xid, OLD.snapshot) AND pg_visible_in_snapshot(xid, NEW.snapshot)
        LIMIT few + 1);
    IF cardinality(noted) > few OR 'everything ' = ANY (noted) THEN
        PERFORM events_tell('several', NEW.gateway_id, 'confirmed', NULL, true);
        RETURN NULL;
    END IF;
    INSERT INTO events_event (kind, object_id, state, member_id, own)
    WITH note AS MATERIALIZED (SELECT string_to_array(text, ' ') AS part FROM unnest(noted) text),
    forward AS MATERIALIZED (SELECT part[2] AS protocol, part[3]::inet AS public, part[4]::int AS port FROM note WHERE part[1] = 'forward'),
    pinhole AS MATERIALIZED (SELECT part[2]::inet AS address FROM note WHERE part[1] = 'pinhole'),
    holding AS MATERIALIZED (SELECT part[2]::bigint AS id FROM note WHERE part[1] = 'holding'),
    come AS (
        SELECT 'forward' AS kind, f.id, f.holding_id, f.changed_in FROM forward n JOIN nat_portforward f
            ON f.public_port = n.port AND f.protocol = n.protocol AND f.public = n.public
        UNION SELECT 'pinhole', p.id, p.holding_id, p.changed_in FROM pinhole n JOIN nat_pinhole p ON p.address = n.address
        UNION SELECT 'address', h.id, h.id, h.changed_in FROM holding n JOIN network_holding h ON h.id = n.id
    )
    SELECT c.kind, c.id, 'confirmed', h.member_id, true FROM come c JOIN network_holding h ON h.id = c.holding_id
    WHERE NOT pg_visible_in_snapshot(c.changed_in, OLD.snapshot) AND pg_visible_in_snapshot(c.changed_in, NEW.snapshot);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'nothing is told of gateway %: %', NEW.gateway_id, SQLERRM;
    RETURN NULL;
END
"""
# It counts what its snapshot saw only where something was noted since the last one: each tick keeps a newer snapshot.
NOTED = """OLD.drift_since IS DISTINCT FROM NEW.drift_since OR OLD.revision_id IS DISTINCT FROM NEW.revision_id
    OR (OLD.unreachable_since IS NULL) <> (NEW.unreachable_since IS NULL)
    OR (OLD.snapshot::text IS DISTINCT FROM NEW.snapshot::text AND events_touched(OLD.snapshot, NEW.snapshot))"""
TOUCHED = """
CREATE FUNCTION events_touched(old pg_snapshot, new pg_snapshot) RETURNS boolean LANGUAGE sql STABLE AS $touched$
    SELECT EXISTS (SELECT 1 FROM deployments_touched WHERE xid >= pg_snapshot_xmin(old)
        AND NOT pg_visible_in_snapshot(xid, old) AND pg_visible_in_snapshot(xid, new))
$touched$;
"""
NO_TOUCHED = "DROP FUNCTION events_touched(pg_snapshot, pg_snapshot);"

TRIGGERS = {
    "deployments_rollout": (ROLLOUT, "OLD.state <> NEW.state OR OLD.wish <> NEW.wish"),
    "deployments_rolloutstep": (STEP, "OLD.state <> NEW.state OR OLD.evidence <> NEW.evidence"),
    "deployments_heldback": (APPROVAL, "OLD.state <> NEW.state"),
    "deployments_hold": (HOLD, "OLD.released IS DISTINCT FROM NEW.released"),
    "deployments_gatewaystate": (GATEWAY, NOTED),
    "tickets_ticket": (
        TICKET,
        "OLD.state <> NEW.state OR OLD.assignee_id IS DISTINCT FROM NEW.assignee_id OR OLD.priority <> NEW.priority OR OLD.tags <> NEW.tags",
    ),
    "tickets_message": (MESSAGE, "false"),
    "events_presence": (PRESENCE, "OLD.writing <> NEW.writing"),
}


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("deployments", "0001_initial"),
        ("nat", "0001_initial"),
        ("tickets", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=16)),
                ("object_id", models.BigIntegerField()),
                ("state", models.CharField(max_length=20)),
                ("member_id", models.BigIntegerField(null=True)),
                ("own", models.BooleanField(default=False)),
                (
                    "transaction",
                    apps.lib.fields.TransactionIdField(db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ())),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["transaction"], name="event_by_transaction"),
                    models.Index(fields=["at"], name="event_by_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Presence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ticket_id", models.BigIntegerField()),
                ("writing", models.BooleanField(default=False)),
                ("seen", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "indexes": [models.Index(fields=["seen"], name="presence_by_time")],
                "constraints": [models.UniqueConstraint(fields=("ticket_id", "user"), name="presence_once")],
            },
        ),
        migrations.RunSQL("ALTER TABLE events_presence SET UNLOGGED", "ALTER TABLE events_presence SET LOGGED"),
        migrations.RunSQL(TELL, NO_TELL),
        migrations.RunSQL(TOUCHED, NO_TOUCHED),
        *(
            migrations.RunSQL(TRIGGER.format(table=table, body=body, when=when), NO_TRIGGER.format(table=table))
            for table, (body, when) in TRIGGERS.items()
        ),
        migrations.RunSQL(GONE, NO_GONE),
    ]
