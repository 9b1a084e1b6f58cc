import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    """Listeners may be guarded against SYN floods."""

    dependencies = [
        ("bans", "0007_listeners"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="listener",
            name="stamp_transaction",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="listener",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="listener",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="listener",
            name="delete_delete",
        ),
        migrations.AddField(
            model_name="listener",
            name="guarded",
            field=models.BooleanField(db_default=False, default=False, verbose_name="SYN flood guard"),
        ),
        migrations.AddField(
            model_name="listener",
            name="window_scale",
            field=models.PositiveSmallIntegerField(db_default=7, default=7, verbose_name="window scale"),
        ),
        migrations.AddField(
            model_name="listenerevent",
            name="guarded",
            field=models.BooleanField(db_default=False, default=False, verbose_name="SYN flood guard"),
        ),
        migrations.AddField(
            model_name="listenerevent",
            name="window_scale",
            field=models.PositiveSmallIntegerField(db_default=7, default=7, verbose_name="window scale"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."guarded" IS DISTINCT FROM (NEW."guarded") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."port" IS DISTINCT FROM (NEW."port") OR OLD."protocol" IS DISTINCT FROM (NEW."protocol") OR OLD."window_scale" IS DISTINCT FROM (NEW."window_scale"))',
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="8544933643724b46339452fdc07fdfb146a4c0f4",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_9b50c",
                    table="bans_listener",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") SELECT new_values."address", new_values."enabled", new_values."group_id", new_values."guarded", new_values."id", new_values."name", new_values."note", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."port", new_values."protocol", new_values."version", new_values."window_scale" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="b110a11519c90d53b56f9079e57b077f17d1eb95",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_be2a6",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_listener",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."guarded" IS DISTINCT FROM (NEW."guarded") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."port" IS DISTINCT FROM (NEW."port") OR OLD."protocol" IS DISTINCT FROM (NEW."protocol") OR OLD."version" IS DISTINCT FROM (NEW."version") OR OLD."window_scale" IS DISTINCT FROM (NEW."window_scale"))',
                    func='INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") VALUES (NEW."address", NEW."enabled", NEW."group_id", NEW."guarded", NEW."id", NEW."name", NEW."note", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."port", NEW."protocol", NEW."version", NEW."window_scale"); RETURN NULL;',
                    hash="32fb558e216cae41776fa2b75caeb3b8084cd5ee",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_f5910",
                    table="bans_listener",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="listener",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") SELECT old_values."address", old_values."enabled", old_values."group_id", old_values."guarded", old_values."id", old_values."name", old_values."note", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."port", old_values."protocol", old_values."version", old_values."window_scale" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="57a5117feb6edb29a1e4f9f40a16c374ba021887",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_9537a",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_listener",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="listener",
            constraint=models.CheckConstraint(
                condition=models.Q(("guarded", False), ("protocol", "tcp"), _connector="OR"), name="listener_guard_is_for_tcp"
            ),
        ),
        migrations.AddConstraint(
            model_name="listener",
            constraint=models.CheckConstraint(condition=models.Q(("window_scale__lte", 14)), name="listener_window_scale"),
        ),
    ]
