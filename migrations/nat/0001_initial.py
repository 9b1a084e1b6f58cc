import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.text
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields

# Mappings and forwards lie inside their holding, its time, and a public pool of the same group.
TIE = """
ALTER TABLE {table} ADD CONSTRAINT {name}_of_holding
    FOREIGN KEY (holding_id, kind, group_id, held)
    REFERENCES network_holding (id, kind, group_id, valid) ON UPDATE CASCADE;
ALTER TABLE {table} ADD CONSTRAINT {name}_of_pool
    FOREIGN KEY (pool_id, pool_kind, group_id, pool_prefix)
    REFERENCES network_pool (id, kind, group_id, prefix) ON UPDATE CASCADE;
"""
UNTIE = "ALTER TABLE {table} DROP CONSTRAINT {name}_of_holding, DROP CONSTRAINT {name}_of_pool;"
# A pinhole lies inside its holding, its time and its prefix, and nothing opens it for another group.
TIE_PINHOLE = """
CREATE UNIQUE INDEX holding_with_prefix ON network_holding (id, kind, group_id, valid, prefix);
ALTER TABLE nat_pinhole ADD CONSTRAINT pinhole_of_holding
    FOREIGN KEY (holding_id, kind, group_id, held, prefix)
    REFERENCES network_holding (id, kind, group_id, valid, prefix) ON UPDATE CASCADE;
"""
UNTIE_PINHOLE = """
ALTER TABLE nat_pinhole DROP CONSTRAINT pinhole_of_holding;
DROP INDEX holding_with_prefix;
"""
# A row's claim is written anew when the row says something else.
CLAIMS = """
CREATE FUNCTION nat_claim_of_mapping() RETURNS trigger LANGUAGE plpgsql AS $claim$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM nat_portclaim WHERE mapping_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_OP <> 'INSERT' THEN
        DELETE FROM nat_portclaim WHERE mapping_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.sharing <> 'shared' THEN
        INSERT INTO nat_portclaim (mapping_id, member_id, public, ports, protocols, valid)
        SELECT NEW.id, h.member_id, NEW.public, coalesce(NEW.block, int4range(0, 65536)), int4range(0, 256), NEW.valid
        FROM network_holding h WHERE h.id = NEW.holding_id;
    END IF;
    RETURN NULL;
END
$claim$;
CREATE TRIGGER claim_insert AFTER INSERT ON nat_natmapping
    FOR EACH ROW WHEN (NEW.sharing <> 'shared') EXECUTE FUNCTION nat_claim_of_mapping();
CREATE TRIGGER claim_update AFTER UPDATE ON nat_natmapping
    FOR EACH ROW WHEN (NEW.sharing <> 'shared' OR OLD.sharing <> 'shared') EXECUTE FUNCTION nat_claim_of_mapping();
CREATE TRIGGER claim_delete AFTER DELETE ON nat_natmapping
    FOR EACH ROW WHEN (OLD.sharing <> 'shared') EXECUTE FUNCTION nat_claim_of_mapping();
CREATE TRIGGER claim_truncate AFTER TRUNCATE ON nat_natmapping
    FOR EACH STATEMENT EXECUTE FUNCTION nat_claim_of_mapping();

CREATE FUNCTION nat_claim_of_forward() RETURNS trigger LANGUAGE plpgsql AS $claim$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM nat_portclaim WHERE forward_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_OP <> 'INSERT' THEN
        DELETE FROM nat_portclaim WHERE forward_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO nat_portclaim (forward_id, member_id, public, ports, protocols, valid)
        SELECT NEW.id, h.member_id, NEW.public,
            int4range(NEW.public_port, NEW.public_port + coalesce((to_jsonb(NEW) ->> 'ports')::int, 1)),
            CASE NEW.protocol WHEN 'tcp' THEN int4range(6, 7) ELSE int4range(17, 18) END, NEW.valid
        FROM network_holding h WHERE h.id = NEW.holding_id;
    END IF;
    RETURN NULL;
END
$claim$;
CREATE TRIGGER claim AFTER INSERT OR DELETE ON nat_portforward
    FOR EACH ROW EXECUTE FUNCTION nat_claim_of_forward();
CREATE TRIGGER claim_changed AFTER UPDATE ON nat_portforward
    FOR EACH ROW WHEN ((OLD.id, OLD.holding_id, OLD.public, OLD.public_port, OLD.ports, OLD.protocol, OLD.valid)
        IS DISTINCT FROM (NEW.id, NEW.holding_id, NEW.public, NEW.public_port, NEW.ports, NEW.protocol, NEW.valid))
    EXECUTE FUNCTION nat_claim_of_forward();
CREATE TRIGGER claim_truncate AFTER TRUNCATE ON nat_portforward
    FOR EACH STATEMENT EXECUTE FUNCTION nat_claim_of_forward();

CREATE FUNCTION nat_claims_change_hands() RETURNS trigger LANGUAGE plpgsql AS $claim$
BEGIN
    UPDATE nat_portclaim SET member_id = NEW.member_id
    WHERE mapping_id IN (SELECT id FROM nat_natmapping WHERE holding_id = NEW.id)
        OR forward_id IN (SELECT id FROM nat_portforward WHERE holding_id = NEW.id);
    RETURN NULL;
END
$claim$;
CREATE TRIGGER claims AFTER UPDATE OF member_id ON network_holding
    FOR EACH ROW WHEN (OLD.member_id <> NEW.member_id) EXECUTE FUNCTION nat_claims_change_hands();
"""
NO_CLAIMS = """
DROP FUNCTION nat_claim_of_mapping, nat_claim_of_forward, nat_claims_change_hands CASCADE;
"""


def _tie(name: str) -> migrations.RunSQL:
    table = f"nat_{name}"
    return migrations.RunSQL(TIE.format(table=table, name=name), UNTIE.format(table=table, name=name))


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("lib", "0001_initial"),
        ("members", "0001_initial"),
        ("network", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Move",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("on", models.DateField(verbose_name="on")),
                ("follow", models.BooleanField(default=True, verbose_name="forwards follow")),
                (
                    "state",
                    models.CharField(
                        choices=[("planned", "planned"), ("done", "done"), ("dropped", "dropped")],
                        default="planned",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("problem", models.CharField(blank=True, default="", max_length=300, verbose_name="problem")),
                ("planned", models.DateTimeField(auto_now_add=True, verbose_name="planned")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="planned by",
                    ),
                ),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="moves", to="members.member")),
                (
                    "pool",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="network.pool",
                        verbose_name="pool",
                    ),
                ),
                (
                    "room",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="members.room",
                        verbose_name="room",
                    ),
                ),
            ],
            options={
                "ordering": ["on", "id"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state", "planned")), fields=("member",), name="move_one_planned"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["planned", "done", "dropped"])), name="move_state"),
                    models.CheckConstraint(
                        condition=models.Q(("room__isnull", False), ("pool__isnull", False), _connector="OR"), name="move_changes_something"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MoveEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("on", models.DateField(verbose_name="on")),
                ("follow", models.BooleanField(default=True, verbose_name="forwards follow")),
                (
                    "state",
                    models.CharField(
                        choices=[("planned", "planned"), ("done", "done"), ("dropped", "dropped")],
                        default="planned",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("problem", models.CharField(blank=True, default="", max_length=300, verbose_name="problem")),
                ("planned", models.DateTimeField(auto_now_add=True, verbose_name="planned")),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="planned by",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.member",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="nat.move"
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.pool",
                        verbose_name="pool",
                    ),
                ),
                (
                    "room",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.room",
                        verbose_name="room",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Pinhole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("kind", models.CharField(default="prefix6", max_length=8)),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("prefix", apps.lib.fields.PrefixField()),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                (
                    "protocol",
                    models.CharField(
                        choices=[("tcp", "TCP"), ("udp", "UDP"), ("all", "everything")], max_length=3, verbose_name="protocol"
                    ),
                ),
                ("port", models.PositiveIntegerField(default=0, verbose_name="first port, 0 for all")),
                ("ports", models.PositiveIntegerField(default=65536, verbose_name="how many ports")),
                ("purpose", models.CharField(blank=True, max_length=80, verbose_name="purpose")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="network.gatewaygroup")),
                ("holding", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="pinholes", to="network.holding")),
            ],
            options={
                "verbose_name": "IPv6 pinhole",
                "ordering": ["address", "protocol", "port", "id"],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("purpose"), "gin_trgm_ops"),
                        name="pinhole_purpose_search",
                    )
                ],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[
                            (django.contrib.postgres.indexes.OpClass("address", "inet_ops"), "="),
                            (
                                models.Func(
                                    "protocol",
                                    output_field=django.contrib.postgres.fields.ranges.IntegerRangeField(),
                                    template="(CASE %(expressions)s WHEN 'tcp' THEN int4range(6, 7) WHEN 'udp' THEN int4range(17, 18) ELSE int4range(0, 256) END)",
                                ),
                                "&&",
                            ),
                            (
                                models.Func(
                                    "port",
                                    django.db.models.expressions.CombinedExpression(models.F("port"), "+", models.F("ports")),
                                    function="int4range",
                                    output_field=django.contrib.postgres.fields.ranges.IntegerRangeField(),
                                ),
                                "&&",
                            ),
                            ("valid", "&&"),
                        ],
                        name="pinhole_open_already",
                    ),
                    models.CheckConstraint(condition=models.Q(("kind", "prefix6")), name="pinhole_of_ipv6_prefix"),
                    models.CheckConstraint(condition=models.Q(("address__within", models.F("prefix"))), name="pinhole_within_prefix"),
                    models.CheckConstraint(condition=models.Q(("valid__contained_by", models.F("held"))), name="pinhole_while_held"),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="pinhole_valid_some_time"),
                    models.CheckConstraint(condition=models.Q(("protocol__in", ["tcp", "udp", "all"])), name="pinhole_protocol"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("port", 0), ("ports", 65536)),
                            models.Q(
                                ("port__gte", 1),
                                ("port__lte", django.db.models.expressions.CombinedExpression(models.Value(65536), "-", models.F("ports"))),
                                ("ports__range", (1, 1000)),
                                ("protocol__in", ["tcp", "udp"]),
                            ),
                            _connector="OR",
                        ),
                        name="pinhole_ports",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PinholeEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("kind", models.CharField(default="prefix6", max_length=8)),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("prefix", apps.lib.fields.PrefixField()),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                (
                    "protocol",
                    models.CharField(
                        choices=[("tcp", "TCP"), ("udp", "UDP"), ("all", "everything")], max_length=3, verbose_name="protocol"
                    ),
                ),
                ("port", models.PositiveIntegerField(default=0, verbose_name="first port, 0 for all")),
                ("ports", models.PositiveIntegerField(default=65536, verbose_name="how many ports")),
                ("purpose", models.CharField(blank=True, max_length=80, verbose_name="purpose")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "holding",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.holding",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="nat.pinhole"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PortRules",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("lowest", models.PositiveIntegerField(default=1024, verbose_name="lowest port")),
                ("longest", models.PositiveSmallIntegerField(default=20, verbose_name="longest range")),
                (
                    "forbidden",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="forbidden ports"
                    ),
                ),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="port_rules", to="network.gatewaygroup"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("lowest__range", (1, 65535))), name="portrules_lowest"),
                    models.CheckConstraint(condition=models.Q(("longest__range", (1, 1000))), name="portrules_longest"),
                    models.CheckConstraint(condition=models.Q(("forbidden__len__lte", 2000)), name="portrules_few_forbidden"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PortRulesEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("lowest", models.PositiveIntegerField(default=1024, verbose_name="lowest port")),
                ("longest", models.PositiveSmallIntegerField(default=20, verbose_name="longest range")),
                (
                    "forbidden",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="forbidden ports"
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="nat.portrules"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="NatMapping",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("kind", models.CharField(default="private4", max_length=8)),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("pool_kind", models.CharField(default="public4", max_length=8)),
                ("pool_prefix", apps.lib.fields.PrefixField()),
                ("public", apps.lib.fields.AddressField(verbose_name="public address")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="network.gatewaygroup")),
                (
                    "holding",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="%(class)ss", to="network.holding"),
                ),
                ("pool", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="%(class)ss", to="network.pool")),
                ("block", django.contrib.postgres.fields.ranges.IntegerRangeField(blank=True, null=True, verbose_name="ports")),
                (
                    "sharing",
                    models.CharField(
                        choices=[
                            ("own", "each member has an address of their own"),
                            ("shared", "members share the addresses"),
                            ("blocks", "members share the addresses, each has a block of ports"),
                        ],
                        db_default="shared",
                        default="shared",
                        max_length=8,
                        verbose_name="how members use it",
                    ),
                ),
            ],
            options={
                "ordering": ["holding", "id"],
                "abstract": False,
                "indexes": [models.Index(fields=["public", "id"], name="natmapping_by_public")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind", "private4")), name="natmapping_from_private_ipv4"),
                    models.CheckConstraint(condition=models.Q(("pool_kind", "public4")), name="natmapping_on_public_ipv4"),
                    models.CheckConstraint(condition=models.Q(("public__within", models.F("pool_prefix"))), name="natmapping_within_pool"),
                    models.CheckConstraint(condition=models.Q(("valid__contained_by", models.F("held"))), name="natmapping_while_held"),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="natmapping_valid_some_time"),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("holding", "="), ("valid", "&&")], name="natmapping_one_at_a_time"
                    ),
                    models.CheckConstraint(condition=models.Q(("sharing__in", ["own", "shared", "blocks"])), name="natmapping_sharing"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("block__endswith__lte", 65536),
                                ("block__isempty", False),
                                ("block__isnull", False),
                                ("block__startswith__gte", 1),
                                ("sharing", "blocks"),
                            ),
                            models.Q(models.Q(("sharing", "blocks"), _negated=True), ("block", None)),
                            _connector="OR",
                        ),
                        name="natmapping_block",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NatMappingEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("kind", models.CharField(default="private4", max_length=8)),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("pool_kind", models.CharField(default="public4", max_length=8)),
                ("pool_prefix", apps.lib.fields.PrefixField()),
                ("public", apps.lib.fields.AddressField(verbose_name="public address")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "holding",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.holding",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="nat.natmapping"
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.pool",
                    ),
                ),
                ("block", django.contrib.postgres.fields.ranges.IntegerRangeField(blank=True, null=True, verbose_name="ports")),
                (
                    "sharing",
                    models.CharField(
                        choices=[
                            ("own", "each member has an address of their own"),
                            ("shared", "members share the addresses"),
                            ("blocks", "members share the addresses, each has a block of ports"),
                        ],
                        db_default="shared",
                        default="shared",
                        max_length=8,
                        verbose_name="how members use it",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PortForward",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("kind", models.CharField(default="private4", max_length=8)),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("pool_kind", models.CharField(default="public4", max_length=8)),
                ("pool_prefix", apps.lib.fields.PrefixField()),
                ("public", apps.lib.fields.AddressField(verbose_name="public address")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                ("protocol", models.CharField(choices=[("tcp", "TCP"), ("udp", "UDP")], max_length=3, verbose_name="protocol")),
                ("public_port", models.PositiveIntegerField(verbose_name="public port")),
                ("private_port", models.PositiveIntegerField(verbose_name="device port")),
                ("purpose", models.CharField(blank=True, max_length=80, verbose_name="purpose")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="network.gatewaygroup")),
                (
                    "holding",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="%(class)ss", to="network.holding"),
                ),
                ("pool", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="%(class)ss", to="network.pool")),
                ("ports", models.PositiveSmallIntegerField(db_default=1, default=1, verbose_name="how many ports")),
            ],
            options={
                "ordering": ["protocol", "public_port", "id"],
                "abstract": False,
                "indexes": [
                    models.Index(fields=["public_port", "protocol"], name="portforward_by_port"),
                    models.Index(fields=["public", "protocol", "public_port", "id"], name="portforward_in_order"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("purpose"), "gin_trgm_ops"),
                        name="portforward_purpose_search",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("kind", "private4")), name="portforward_from_private_ipv4"),
                    models.CheckConstraint(condition=models.Q(("pool_kind", "public4")), name="portforward_on_public_ipv4"),
                    models.CheckConstraint(condition=models.Q(("public__within", models.F("pool_prefix"))), name="portforward_within_pool"),
                    models.CheckConstraint(condition=models.Q(("valid__contained_by", models.F("held"))), name="portforward_while_held"),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="portforward_valid_some_time"),
                    models.CheckConstraint(condition=models.Q(("protocol__in", ["tcp", "udp"])), name="portforward_protocol"),
                    models.CheckConstraint(condition=models.Q(("public_port__range", (1, 65535))), name="portforward_public_port"),
                    models.CheckConstraint(condition=models.Q(("private_port__range", (1, 65535))), name="portforward_private_port"),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[
                            (django.contrib.postgres.indexes.OpClass("public", "inet_ops"), "="),
                            ("protocol", "="),
                            (
                                models.Func(
                                    "public_port",
                                    django.db.models.expressions.CombinedExpression(models.F("public_port"), "+", models.F("ports")),
                                    function="int4range",
                                    output_field=django.contrib.postgres.fields.ranges.IntegerRangeField(),
                                ),
                                "&&",
                            ),
                            ("valid", "&&"),
                        ],
                        name="portforward_port_taken",
                    ),
                    models.CheckConstraint(condition=models.Q(("ports__range", (1, 1000))), name="portforward_ports"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "private_port__lte",
                                django.db.models.expressions.CombinedExpression(models.Value(65536), "-", models.F("ports")),
                            ),
                            (
                                "public_port__lte",
                                django.db.models.expressions.CombinedExpression(models.Value(65536), "-", models.F("ports")),
                            ),
                        ),
                        name="portforward_range_of_ports",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PortForwardEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("kind", models.CharField(default="private4", max_length=8)),
                ("held", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                ("pool_kind", models.CharField(default="public4", max_length=8)),
                ("pool_prefix", apps.lib.fields.PrefixField()),
                ("public", apps.lib.fields.AddressField(verbose_name="public address")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                ("protocol", models.CharField(choices=[("tcp", "TCP"), ("udp", "UDP")], max_length=3, verbose_name="protocol")),
                ("public_port", models.PositiveIntegerField(verbose_name="public port")),
                ("private_port", models.PositiveIntegerField(verbose_name="device port")),
                ("purpose", models.CharField(blank=True, max_length=80, verbose_name="purpose")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
                    ),
                ),
                (
                    "holding",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.holding",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="nat.portforward"
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.pool",
                    ),
                ),
                ("ports", models.PositiveSmallIntegerField(db_default=1, default=1, verbose_name="how many ports")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PortClaim",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mapping_id", models.BigIntegerField(null=True, unique=True)),
                ("forward_id", models.BigIntegerField(null=True, unique=True)),
                ("member_id", models.BigIntegerField()),
                ("public", apps.lib.fields.AddressField()),
                ("ports", django.contrib.postgres.fields.ranges.IntegerRangeField()),
                ("protocols", django.contrib.postgres.fields.ranges.IntegerRangeField()),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
            ],
            options={
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[
                            (django.contrib.postgres.indexes.OpClass("public", "inet_ops"), "="),
                            ("ports", "&&"),
                            ("protocols", "&&"),
                            ("valid", "&&"),
                            ("member_id", "<>"),
                        ],
                        name="portclaim_of_one_member",
                    )
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="move",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_moveevent" ("by_id", "follow", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "pool_id", "problem", "room_id", "state") SELECT new_values."by_id", new_values."follow", new_values."id", new_values."member_id", new_values."on", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."planned", new_values."pool_id", new_values."problem", new_values."room_id", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2f933db8f6a2570e33cc6e903e498c81c1128df6",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_7fbc5",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="nat_move",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="move",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "nat_moveevent" ("by_id", "follow", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "pool_id", "problem", "room_id", "state") VALUES (NEW."by_id", NEW."follow", NEW."id", NEW."member_id", NEW."on", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."planned", NEW."pool_id", NEW."problem", NEW."room_id", NEW."state"); RETURN NULL;',
                    hash="75ac4fb56f34e91deec040d8c35673d9d67f7712",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_9e133",
                    table="nat_move",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="move",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_moveevent" ("by_id", "follow", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "pool_id", "problem", "room_id", "state") SELECT old_values."by_id", old_values."follow", old_values."id", old_values."member_id", old_values."on", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."planned", old_values."pool_id", old_values."problem", old_values."room_id", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="4d211da594b60397506b4e92b2cbe15349aeb9b6",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_67775",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="nat_move",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pinhole",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="926f22d4054307133b2a160e7c7d563b552ff07e",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_b595e",
                    table="nat_pinhole",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pinhole",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_pinholeevent" ("address", "enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "ports", "prefix", "protocol", "purpose", "valid", "version") SELECT new_values."address", new_values."enabled", new_values."group_id", new_values."held", new_values."holding_id", new_values."id", new_values."kind", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."port", new_values."ports", new_values."prefix", new_values."protocol", new_values."purpose", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="f0c2214902ed3f7bf8a297d3e840c0f3fbcc7114",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_16aa3",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="nat_pinhole",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pinhole",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."held" IS DISTINCT FROM (NEW."held") OR OLD."holding_id" IS DISTINCT FROM (NEW."holding_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."port" IS DISTINCT FROM (NEW."port") OR OLD."ports" IS DISTINCT FROM (NEW."ports") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."protocol" IS DISTINCT FROM (NEW."protocol") OR OLD."purpose" IS DISTINCT FROM (NEW."purpose") OR OLD."valid" IS DISTINCT FROM (NEW."valid") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "nat_pinholeevent" ("address", "enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "ports", "prefix", "protocol", "purpose", "valid", "version") VALUES (NEW."address", NEW."enabled", NEW."group_id", NEW."held", NEW."holding_id", NEW."id", NEW."kind", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."port", NEW."ports", NEW."prefix", NEW."protocol", NEW."purpose", NEW."valid", NEW."version"); RETURN NULL;',
                    hash="b8f35aaf362af8f9e95efea19012db01f1d8b1e9",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_0fc7d",
                    table="nat_pinhole",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pinhole",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_pinholeevent" ("address", "enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "ports", "prefix", "protocol", "purpose", "valid", "version") SELECT old_values."address", old_values."enabled", old_values."group_id", old_values."held", old_values."holding_id", old_values."id", old_values."kind", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."port", old_values."ports", old_values."prefix", old_values."protocol", old_values."purpose", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="368c8bcbc201d68046c5752f12c82a057c65f6e2",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_d16fe",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="nat_pinhole",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portrules",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portrulesevent" ("forbidden", "group_id", "id", "longest", "lowest", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."forbidden", new_values."group_id", new_values."id", new_values."longest", new_values."lowest", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="07f4ee20bf46e8611493ed85cd1a11203736a52f",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_25775",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="nat_portrules",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portrules",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "nat_portrulesevent" ("forbidden", "group_id", "id", "longest", "lowest", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."forbidden", NEW."group_id", NEW."id", NEW."longest", NEW."lowest", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."version"); RETURN NULL;',
                    hash="69885280529d0677888b5303446d6a9624153b82",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_12ba2",
                    table="nat_portrules",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portrules",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portrulesevent" ("forbidden", "group_id", "id", "longest", "lowest", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."forbidden", old_values."group_id", old_values."id", old_values."longest", old_values."lowest", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="2dd8769b40ff1b24a7de4afefe8d180525cbe6d6",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_de061",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="nat_portrules",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="natmapping",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="f979f84124f1fd847353814f16f9759ae63717a5",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_c34a3",
                    table="nat_natmapping",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="natmapping",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_natmappingevent" ("block", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "valid", "version") SELECT new_values."block", new_values."group_id", new_values."held", new_values."holding_id", new_values."id", new_values."kind", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."pool_id", new_values."pool_kind", new_values."pool_prefix", new_values."public", new_values."sharing", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="c37b0859a6f657e8bea2b16f9175e0bc7d88855c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_6dc99",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="nat_natmapping",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="natmapping",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."block" IS DISTINCT FROM (NEW."block") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."held" IS DISTINCT FROM (NEW."held") OR OLD."holding_id" IS DISTINCT FROM (NEW."holding_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."pool_kind" IS DISTINCT FROM (NEW."pool_kind") OR OLD."pool_prefix" IS DISTINCT FROM (NEW."pool_prefix") OR OLD."public" IS DISTINCT FROM (NEW."public") OR OLD."sharing" IS DISTINCT FROM (NEW."sharing") OR OLD."valid" IS DISTINCT FROM (NEW."valid") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "nat_natmappingevent" ("block", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "valid", "version") VALUES (NEW."block", NEW."group_id", NEW."held", NEW."holding_id", NEW."id", NEW."kind", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."pool_id", NEW."pool_kind", NEW."pool_prefix", NEW."public", NEW."sharing", NEW."valid", NEW."version"); RETURN NULL;',
                    hash="fc8bc9a452d40ce255d123cc06cac07e12fc0cfb",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_ff591",
                    table="nat_natmapping",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="natmapping",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_natmappingevent" ("block", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "valid", "version") SELECT old_values."block", old_values."group_id", old_values."held", old_values."holding_id", old_values."id", old_values."kind", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."pool_id", old_values."pool_kind", old_values."pool_prefix", old_values."public", old_values."sharing", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="543cc1eb239c432367bd5c9a49f40689dda64276",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_4588f",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="nat_natmapping",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portforward",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="04c0f67e9172492c0039a799eb4366567fcd1550",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_f812e",
                    table="nat_portforward",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portforward",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portforwardevent" ("enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "ports", "private_port", "protocol", "public", "public_port", "purpose", "valid", "version") SELECT new_values."enabled", new_values."group_id", new_values."held", new_values."holding_id", new_values."id", new_values."kind", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."pool_id", new_values."pool_kind", new_values."pool_prefix", new_values."ports", new_values."private_port", new_values."protocol", new_values."public", new_values."public_port", new_values."purpose", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="5b232c61663ec14ad570491dd11612aa9f17402d",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_37197",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="nat_portforward",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portforward",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."held" IS DISTINCT FROM (NEW."held") OR OLD."holding_id" IS DISTINCT FROM (NEW."holding_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."pool_id" IS DISTINCT FROM (NEW."pool_id") OR OLD."pool_kind" IS DISTINCT FROM (NEW."pool_kind") OR OLD."pool_prefix" IS DISTINCT FROM (NEW."pool_prefix") OR OLD."ports" IS DISTINCT FROM (NEW."ports") OR OLD."private_port" IS DISTINCT FROM (NEW."private_port") OR OLD."protocol" IS DISTINCT FROM (NEW."protocol") OR OLD."public" IS DISTINCT FROM (NEW."public") OR OLD."public_port" IS DISTINCT FROM (NEW."public_port") OR OLD."purpose" IS DISTINCT FROM (NEW."purpose") OR OLD."valid" IS DISTINCT FROM (NEW."valid") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "nat_portforwardevent" ("enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "ports", "private_port", "protocol", "public", "public_port", "purpose", "valid", "version") VALUES (NEW."enabled", NEW."group_id", NEW."held", NEW."holding_id", NEW."id", NEW."kind", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."pool_id", NEW."pool_kind", NEW."pool_prefix", NEW."ports", NEW."private_port", NEW."protocol", NEW."public", NEW."public_port", NEW."purpose", NEW."valid", NEW."version"); RETURN NULL;',
                    hash="b798ad48769849158d653970f89f4df0804beab1",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_cdf08",
                    table="nat_portforward",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="portforward",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portforwardevent" ("enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "ports", "private_port", "protocol", "public", "public_port", "purpose", "valid", "version") SELECT old_values."enabled", old_values."group_id", old_values."held", old_values."holding_id", old_values."id", old_values."kind", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."pool_id", old_values."pool_kind", old_values."pool_prefix", old_values."ports", old_values."private_port", old_values."protocol", old_values."public", old_values."public_port", old_values."purpose", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="7767f97ca404b4c6b516cc50417f1c8c6edec8ec",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_4b6ee",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="nat_portforward",
                    when="AFTER",
                ),
            ),
        ),
        _tie("natmapping"),
        _tie("portforward"),
        migrations.RunSQL(TIE_PINHOLE, UNTIE_PINHOLE),
        migrations.RunSQL(CLAIMS, NO_CLAIMS),
    ]
