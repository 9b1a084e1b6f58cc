import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0011_gateway_profiles"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.CreateModel(
            name="Uplink",
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
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="uplink, up")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="uplink, down")),
                ("limits_rates", models.BooleanField(default=True, verbose_name="limit rates")),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="uplink", to="network.gatewaygroup"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UplinkEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="uplink, up")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="uplink, down")),
                ("limits_rates", models.BooleanField(default=True, verbose_name="limit rates")),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.uplink"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="uplink",
            constraint=models.CheckConstraint(
                condition=models.Q(("up_kbit", None), ("up_kbit__gte", 64), _connector="OR"), name="uplink_up_kbit"
            ),
        ),
        migrations.AddConstraint(
            model_name="uplink",
            constraint=models.CheckConstraint(
                condition=models.Q(("down_kbit", None), ("down_kbit__gte", 64), _connector="OR"), name="uplink_down_kbit"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="b64a09b28fd836ee7f78bde48a885057a696e580",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_be5d6",
                    table="network_uplink",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_uplinkevent" ("down_kbit", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "up_kbit", "version") SELECT new_values."down_kbit", new_values."group_id", new_values."id", new_values."limits_rates", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="cd51dd89da8bb524d8f4602bb62275cc3fc22554",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_781dd",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_uplink",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."down_kbit" IS DISTINCT FROM (NEW."down_kbit") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."limits_rates" IS DISTINCT FROM (NEW."limits_rates") OR OLD."up_kbit" IS DISTINCT FROM (NEW."up_kbit") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_uplinkevent" ("down_kbit", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "up_kbit", "version") VALUES (NEW."down_kbit", NEW."group_id", NEW."id", NEW."limits_rates", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."up_kbit", NEW."version"); RETURN NULL;',
                    hash="0580447988af39b3b55919b727a8416600c0fff0",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_46f09",
                    table="network_uplink",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="uplink",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_uplinkevent" ("down_kbit", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "up_kbit", "version") SELECT old_values."down_kbit", old_values."group_id", old_values."id", old_values."limits_rates", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="528acc44a8f3d35f17f2d26767153e929c0bce35",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f3d20",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_uplink",
                    when="AFTER",
                ),
            ),
        ),
    ]
