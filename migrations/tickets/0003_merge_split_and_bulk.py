import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

# A ticket is merged into one that is not merged: no chains, no loops. (id, is_merged) is what a merged ticket points to, with "false".
NO_CHAINS = """
    ALTER TABLE tickets_ticket
        ADD COLUMN is_merged boolean GENERATED ALWAYS AS (merged_into_id IS NOT NULL) STORED,
        ADD COLUMN target_is_merged boolean GENERATED ALWAYS AS (CASE WHEN merged_into_id IS NOT NULL THEN false END) STORED,
        ADD CONSTRAINT ticket_is_merged_or_not UNIQUE (id, is_merged),
        ADD CONSTRAINT ticket_merged_into_one_that_is_not
            FOREIGN KEY (merged_into_id, target_is_merged) REFERENCES tickets_ticket (id, is_merged)"""
ALLOW_CHAINS = "ALTER TABLE tickets_ticket DROP COLUMN target_is_merged, DROP COLUMN is_merged CASCADE"


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0005_tariffs_count_devices"),
        ("tickets", "0002_mail_comes_in"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Bulk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(unique=True)),
                ("text_de", models.TextField(blank=True)),
                ("text_en", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="BulkItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("done_at", models.DateTimeField(null=True)),
                ("why", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Move",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("merge", "merged"), ("split", "split")], max_length=5)),
                ("messages", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list)),
                ("links", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list)),
                (
                    "state",
                    models.CharField(
                        blank=True,
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        max_length=8,
                    ),
                ),
                ("adopted", models.BooleanField(default=False)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("undone_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AlterModelOptions(
            name="message",
            options={"ordering": ["at", "id"]},
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="ticket",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="ticket",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="ticket",
            name="delete_delete",
        ),
        migrations.AddField(
            model_name="ticket",
            name="merged_into",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="merged",
                to="tickets.ticket",
                verbose_name="merged into",
            ),
        ),
        migrations.AddField(
            model_name="ticket",
            name="split_from",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="tickets.ticket",
                verbose_name="split from",
            ),
        ),
        migrations.AddField(
            model_name="ticketevent",
            name="merged_into",
            field=models.ForeignKey(
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="tickets.ticket",
                verbose_name="merged into",
            ),
        ),
        migrations.AddField(
            model_name="ticketevent",
            name="split_from",
            field=models.ForeignKey(
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="tickets.ticket",
                verbose_name="split from",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") SELECT new_values."address", new_values."assignee_id", new_values."id", new_values."language", new_values."member_id", new_values."merged_into_id", new_values."opened_at", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."priority", new_values."split_from_id", new_values."state", new_values."subject", new_values."tags", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2e7828f72f728c9d2b8a47559ed2373aaa9fb468",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_2d01a",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."assignee_id" IS DISTINCT FROM (NEW."assignee_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."merged_into_id" IS DISTINCT FROM (NEW."merged_into_id") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at") OR OLD."priority" IS DISTINCT FROM (NEW."priority") OR OLD."split_from_id" IS DISTINCT FROM (NEW."split_from_id") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."subject" IS DISTINCT FROM (NEW."subject") OR OLD."tags" IS DISTINCT FROM (NEW."tags") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") VALUES (NEW."address", NEW."assignee_id", NEW."id", NEW."language", NEW."member_id", NEW."merged_into_id", NEW."opened_at", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."priority", NEW."split_from_id", NEW."state", NEW."subject", NEW."tags", NEW."version"); RETURN NULL;',
                    hash="f8d155a1d5642a519a29114aed168f588589d943",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c6bd0",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") SELECT old_values."address", old_values."assignee_id", old_values."id", old_values."language", old_values."member_id", old_values."merged_into_id", old_values."opened_at", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."priority", old_values."split_from_id", old_values."state", old_values."subject", old_values."tags", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="67209cdf0358908f3f16ad20a457e1839700b5f4",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_84422",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(
                condition=models.Q(("merged_into", None), ("state", "solved"), _connector="OR"), name="ticket_merged_is_solved"
            ),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("merged_into", models.F("id")), _negated=True), models.Q(("split_from", models.F("id")), _negated=True)
                ),
                name="ticket_is_not_its_own",
            ),
        ),
        migrations.AddField(
            model_name="bulk",
            name="by",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="bulkitem",
            name="bulk",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="items", to="tickets.bulk"),
        ),
        migrations.AddField(
            model_name="bulkitem",
            name="message",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="tickets.message"),
        ),
        migrations.AddField(
            model_name="bulkitem",
            name="ticket",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="tickets.ticket"),
        ),
        migrations.AddField(
            model_name="move",
            name="by",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="move",
            name="source",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="moves_out", to="tickets.ticket"),
        ),
        migrations.AddField(
            model_name="move",
            name="target",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="moves_in", to="tickets.ticket"),
        ),
        migrations.AddField(
            model_name="move",
            name="undone_by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name="bulk",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("text_de", ""), _negated=True), models.Q(("text_en", ""), _negated=True), _connector="OR"),
                name="ticket_bulk_says_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="bulk",
            constraint=models.CheckConstraint(condition=models.Q(("state__in", ["waiting", "solved"])), name="ticket_bulk_state"),
        ),
        migrations.AddIndex(
            model_name="bulkitem",
            index=models.Index(condition=models.Q(("done_at", None)), fields=["id"], name="ticket_bulk_left"),
        ),
        migrations.AddConstraint(
            model_name="bulkitem",
            constraint=models.UniqueConstraint(fields=("bulk", "ticket"), name="ticket_bulk_once"),
        ),
        migrations.AddConstraint(
            model_name="bulkitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("done_at__isnull", False), models.Q(("message", None), ("why", "")), _connector="OR"),
                name="ticket_bulk_done",
            ),
        ),
        migrations.AddConstraint(
            model_name="move",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "merge"), ("undone_at", None)), fields=("source",), name="ticket_merged_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="move",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "merge"), models.Q(("state", ""), _negated=True)),
                    models.Q(("kind", "split"), ("state", ""), ("undone_at", None)),
                    _connector="OR",
                ),
                name="ticket_move_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="move",
            constraint=models.CheckConstraint(
                condition=models.Q(("source", models.F("target")), _negated=True), name="ticket_moves_elsewhere"
            ),
        ),
        migrations.AddConstraint(
            model_name="move",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("undone_at", None), ("undone_by", None)), ("undone_at__isnull", False), _connector="OR"),
                name="ticket_move_undone",
            ),
        ),
        migrations.RunSQL(NO_CHAINS, ALLOW_CHAINS),
    ]
