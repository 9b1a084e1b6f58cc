import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.expressions
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    """A forward may have several ports in a row; no two forwards of one address and protocol share one."""

    dependencies = [
        ("nat", "0004_blocks_and_claims"),
        ("network", "0007_clamped_segments"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="portforward",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="portforward",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="portforward",
            name="delete_delete",
        ),
        migrations.RemoveConstraint(
            model_name="portforward",
            name="portforward_port_taken",
        ),
        migrations.AddField(
            model_name="portforward",
            name="ports",
            field=models.PositiveSmallIntegerField(db_default=1, default=1, verbose_name="how many ports"),
        ),
        migrations.AddField(
            model_name="portforwardevent",
            name="ports",
            field=models.PositiveSmallIntegerField(db_default=1, default=1, verbose_name="how many ports"),
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
        migrations.AddConstraint(
            model_name="portforward",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="portforward",
            constraint=models.CheckConstraint(condition=models.Q(("ports__range", (1, 1000))), name="portforward_ports"),
        ),
        migrations.AddConstraint(
            model_name="portforward",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("private_port__lte", django.db.models.expressions.CombinedExpression(models.Value(65536), "-", models.F("ports"))),
                    ("public_port__lte", django.db.models.expressions.CombinedExpression(models.Value(65536), "-", models.F("ports"))),
                ),
                name="portforward_range_of_ports",
            ),
        ),
    ]
