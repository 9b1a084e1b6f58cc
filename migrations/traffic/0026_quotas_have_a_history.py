import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

# Quotas that are there already begin their history now: what they were before nobody knows
BEGIN = """
    INSERT INTO traffic_quotaevent (pgh_created_at, pgh_label, pgh_obj_id, tariff_id, octets)
    SELECT now(), 'insert', tariff_id, tariff_id, octets FROM traffic_quota
"""


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0005_tariffs_count_devices"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("traffic", "0025_spans"),
    ]

    operations = [
        migrations.CreateModel(
            name="QuotaEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("octets", models.PositiveBigIntegerField()),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="quota",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") SELECT new_values."octets", _pgh_attached_context.value, NOW(), \'insert\', new_values."tariff_id", new_values."tariff_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="4ba750b0a0064b90106b88ce35bbab3fc0a1142c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_d1c7c",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="traffic_quota",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="quota",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") VALUES (NEW."octets", _pgh_attach_context(), NOW(), \'update\', NEW."tariff_id", NEW."tariff_id"); RETURN NULL;',
                    hash="6a997aaf97d724f01bd4abc44c4e6930adc939dc",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_1a582",
                    table="traffic_quota",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="quota",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") SELECT old_values."octets", _pgh_attached_context.value, NOW(), \'delete\', old_values."tariff_id", old_values."tariff_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="8d5db0bee68ff353170254a5efb52ec1a7ee712b",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_a310d",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="traffic_quota",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="quotaevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="quotaevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="traffic.quota"
            ),
        ),
        migrations.AddField(
            model_name="quotaevent",
            name="tariff",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                serialize=False,
                to="members.tariff",
            ),
        ),
        migrations.RunSQL(BEGIN, migrations.RunSQL.noop),
    ]
