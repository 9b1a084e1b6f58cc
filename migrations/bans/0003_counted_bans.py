"""The number of bans on each list, kept by triggers.

Writers of bans wait until those that are there are counted.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bans", "0002_history_of_feeds_by_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="BanCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField()),
                (
                    "list",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="bans.banlist"
                    ),
                ),
            ],
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="count_added",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="INSERT INTO bans_bancount (list_id, number) SELECT list_id, count(*) FROM new_values GROUP BY list_id;RETURN NULL;",
                    hash="4a95183acb76e5ad12aff91361a963c31fc25716",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_count_added_39599",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="bans_ban",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="count_removed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="INSERT INTO bans_bancount (list_id, number) SELECT list_id, -count(*) FROM old_values GROUP BY list_id;RETURN NULL;",
                    hash="58d40206a51935bd62c70cd11fca2a64f8a876ba",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_count_removed_8554e",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="bans_ban",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ban",
            trigger=pgtrigger.compiler.Trigger(
                name="count_moved",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."list_id" IS DISTINCT FROM (NEW."list_id"))',
                    func="INSERT INTO bans_bancount (list_id, number) VALUES (OLD.list_id, -1), (NEW.list_id, 1);RETURN NULL;",
                    hash="012e8d111f6b1f8f713e42cb95b211bb000fdbe3",
                    operation='UPDATE OF "list_id"',
                    pgid="pgtrigger_count_moved_f8c4e",
                    table="bans_ban",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(
            "INSERT INTO bans_bancount (list_id, number) SELECT list_id, count(*) FROM bans_ban GROUP BY list_id", migrations.RunSQL.noop
        ),
    ]
