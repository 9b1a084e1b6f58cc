import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields

# A pinhole lies inside its holding, its time and its prefix, and nothing opens it for another group.
TIE = """
CREATE UNIQUE INDEX holding_with_prefix ON network_holding (id, kind, group_id, valid, prefix);
ALTER TABLE nat_pinhole ADD CONSTRAINT pinhole_of_holding
    FOREIGN KEY (holding_id, kind, group_id, held, prefix)
    REFERENCES network_holding (id, kind, group_id, valid, prefix) ON UPDATE CASCADE;
"""
UNTIE = """
ALTER TABLE nat_pinhole DROP CONSTRAINT pinhole_of_holding;
DROP INDEX holding_with_prefix;
"""


class Migration(migrations.Migration):
    """What of members' IPv6 addresses is open."""

    dependencies = [
        ("nat", "0005_ranges_of_ports"),
        ("network", "0007_clamped_segments"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
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
                ("purpose", models.CharField(blank=True, max_length=80, verbose_name="what for")),
                ("enabled", models.BooleanField(default=True, verbose_name="on")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="network.gatewaygroup")),
                ("holding", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="pinholes", to="network.holding")),
            ],
            options={
                "verbose_name": "IPv6 pinhole",
                "ordering": ["address", "protocol", "port", "id"],
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
                ("purpose", models.CharField(blank=True, max_length=80, verbose_name="what for")),
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
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=models.CheckConstraint(condition=models.Q(("kind", "prefix6")), name="pinhole_of_ipv6_prefix"),
        ),
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=models.CheckConstraint(condition=models.Q(("address__within", models.F("prefix"))), name="pinhole_within_prefix"),
        ),
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=models.CheckConstraint(condition=models.Q(("valid__contained_by", models.F("held"))), name="pinhole_while_held"),
        ),
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="pinhole_valid_some_time"),
        ),
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=models.CheckConstraint(condition=models.Q(("protocol__in", ["tcp", "udp", "all"])), name="pinhole_protocol"),
        ),
        migrations.AddConstraint(
            model_name="pinhole",
            constraint=models.CheckConstraint(
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
        migrations.RunSQL(TIE, UNTIE),
    ]
