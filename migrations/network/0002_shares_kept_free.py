import django.contrib.postgres.fields
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0001_initial"),
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
        migrations.AddField(
            model_name="pool",
            name="kept",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=apps.lib.fields.PrefixField(), blank=True, db_default=[], default=list, verbose_name="kept free"
            ),
        ),
        migrations.AddField(
            model_name="pool",
            name="kept_first",
            field=models.PositiveIntegerField(db_default=0, default=0, verbose_name="first addresses kept free"),
        ),
        migrations.AddField(
            model_name="poolevent",
            name="kept",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=apps.lib.fields.PrefixField(), blank=True, db_default=[], default=list, verbose_name="kept free"
            ),
        ),
        migrations.AddField(
            model_name="poolevent",
            name="kept_first",
            field=models.PositiveIntegerField(db_default=0, default=0, verbose_name="first addresses kept free"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="pool",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "sharing", "version") SELECT new_values."block_size", new_values."group_id", new_values."id", new_values."kept", new_values."kept_first", new_values."kind", new_values."member_length", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."prefix", new_values."sharing", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="800be62456072ec6792ead3cc4648a0bd3f00f4c",
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
                    func='INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "sharing", "version") VALUES (NEW."block_size", NEW."group_id", NEW."id", NEW."kept", NEW."kept_first", NEW."kind", NEW."member_length", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."prefix", NEW."sharing", NEW."version"); RETURN NULL;',
                    hash="92a953c5c2946abeab7d3e02fe05deb9adb248f0",
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
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "sharing", "version") SELECT old_values."block_size", old_values."group_id", old_values."id", old_values."kept", old_values."kept_first", old_values."kind", old_values."member_length", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."prefix", old_values."sharing", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="fb71b8cf11ee4c2c8d1da0afb01c05f33170d18d",
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
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "public4"), _negated=True), models.Q(("kept", []), ("kept_first", 0)), _connector="OR"
                ),
                name="pool_public_keeps_none",
            ),
        ),
        migrations.AddConstraint(
            model_name="pool",
            constraint=models.CheckConstraint(
                condition=models.Q(prefix__covers_all=models.F("kept")),
                name="pool_kept_inside",
            ),
        ),
        migrations.AddConstraint(
            model_name="pool",
            constraint=models.CheckConstraint(
                condition=models.Q(("kept__len__lte", 64), ("kept_first__lte", 1000000)), name="pool_kept_few"
            ),
        ),
    ]
