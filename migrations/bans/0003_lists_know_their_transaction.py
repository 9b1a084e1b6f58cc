import django.db.models.expressions
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    dependencies = [
        ("bans", "0002_uploads"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="banlist",
            name="update_update",
        ),
        migrations.AddField(
            model_name="banlist",
            name="changed_at",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
        ),
        migrations.AddField(
            model_name="banlist",
            name="changed_in",
            field=apps.lib.fields.TransactionIdField(
                db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banlist",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."enabled" IS DISTINCT FROM (NEW."enabled"))',
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="056a17cd3dbe9071c0a12ae5fd8631d1c5b69dce",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_93ef2",
                    table="bans_banlist",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="banlist",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."enabled" IS DISTINCT FROM (NEW."enabled") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."description", NEW."enabled", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."version"); RETURN NULL;',
                    hash="fa39155422c887637c802317bfb0caaf91215470",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c956b",
                    table="bans_banlist",
                    when="AFTER",
                ),
            ),
        ),
    ]
