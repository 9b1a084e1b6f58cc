"""The number of mails in each state, kept by triggers.

Writers of mails wait until those that are there are counted.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mail", "0002_bulk_mail"),
    ]

    operations = [
        migrations.CreateModel(
            name="MessageCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed"), ("discarded", "discarded")], max_length=9
                    ),
                ),
                ("number", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "sent", "failed", "discarded"])), name="mail_count_state"
                    )
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="message",
            trigger=pgtrigger.compiler.Trigger(
                name="count_added",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="INSERT INTO mail_messagecount (state, number) SELECT state, count(*) FROM new_values GROUP BY state;RETURN NULL;",
                    hash="49fa0ef990991fba9f5675743af424e967813632",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_count_added_ea44d",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="mail_message",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="message",
            trigger=pgtrigger.compiler.Trigger(
                name="count_removed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="INSERT INTO mail_messagecount (state, number) SELECT state, -count(*) FROM old_values GROUP BY state;RETURN NULL;",
                    hash="8b63613a31a6a4d89b29b1014da8f1b069d739bc",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_count_removed_9b7b3",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="mail_message",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="message",
            trigger=pgtrigger.compiler.Trigger(
                name="count_moved",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."state" IS DISTINCT FROM (NEW."state"))',
                    func="INSERT INTO mail_messagecount (state, number) VALUES (OLD.state, -1), (NEW.state, 1);RETURN NULL;",
                    hash="b360069def539f49602031315f8b7b9c13f86fd8",
                    operation='UPDATE OF "state"',
                    pgid="pgtrigger_count_moved_7f18c",
                    table="mail_message",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(
            "INSERT INTO mail_messagecount (state, number) SELECT state, count(*) FROM mail_message GROUP BY state",
            migrations.RunSQL.noop,
        ),
    ]
