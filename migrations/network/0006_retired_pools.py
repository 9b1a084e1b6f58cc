import django.contrib.postgres.constraints
import django.contrib.postgres.indexes
import django.db.models.constraints
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

# Once per statement, however many rows it adds.
REFUSE = """
CREATE FUNCTION network_holding_of_retired_pool() RETURNS trigger LANGUAGE plpgsql AS $refuse$
DECLARE
    culprit text;
BEGIN
    SELECT p.name INTO culprit FROM come JOIN network_pool p ON p.id = come.pool_id WHERE p.retired IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE check_violation USING MESSAGE = 'the pool ' || culprit || ' gives no more addresses', CONSTRAINT = 'holding_pool_in_service';
    END IF;
    RETURN NULL;
END
$refuse$;
CREATE TRIGGER pool_in_service AFTER INSERT ON network_holding
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION network_holding_of_retired_pool();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0005_retired_gateways"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="pool",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="pool",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="pool",
            name="delete_delete",
        ),
        migrations.RemoveConstraint(
            model_name="pool",
            name="pool_overlaps",
        ),
        migrations.AddField(
            model_name="pool",
            name="retired",
            field=models.DateTimeField(blank=True, null=True, verbose_name="out of service since"),
        ),
        migrations.AddField(
            model_name="poolevent",
            name="retired",
            field=models.DateTimeField(blank=True, null=True, verbose_name="out of service since"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "retired", "sharing", "version") SELECT new_values."block_size", new_values."group_id", new_values."id", new_values."kept", new_values."kept_first", new_values."kind", new_values."member_length", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."prefix", new_values."retired", new_values."sharing", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="12009e32f0b9bd73ab45d973e54e71b2d5b98a3c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_e8f4d",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_pool",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "retired", "sharing", "version") VALUES (NEW."block_size", NEW."group_id", NEW."id", NEW."kept", NEW."kept_first", NEW."kind", NEW."member_length", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."prefix", NEW."retired", NEW."sharing", NEW."version"); RETURN NULL;',
                    hash="e13f32ba8914a7a7c042a565e6b035279b273ca0",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c8e08",
                    table="network_pool",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "retired", "sharing", "version") SELECT old_values."block_size", old_values."group_id", old_values."id", old_values."kept", old_values."kept_first", old_values."kind", old_values."member_length", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."prefix", old_values."retired", old_values."sharing", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="0792a31fb8abc7ff462e35a09b96234fce93d93d",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_c2eea",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_pool",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="pool",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                deferrable=django.db.models.constraints.Deferrable["IMMEDIATE"],
                expressions=[(django.contrib.postgres.indexes.OpClass("prefix", "inet_ops"), "&&")],
                name="pool_overlaps",
            ),
        ),
        migrations.RunSQL(REFUSE, "DROP FUNCTION network_holding_of_retired_pool CASCADE;"),
    ]
