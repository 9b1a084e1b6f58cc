import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("members", "0005_tariffs_count_devices"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("size", models.PositiveIntegerField()),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="CannedEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("text_de", models.TextField(verbose_name="German text")),
                ("text_en", models.TextField(verbose_name="English text")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Link",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("object_id", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("member", "from who asks"), ("answer", "answer"), ("note", "internal note")], max_length=6),
                ),
                ("sender", models.CharField(blank=True, max_length=320)),
                ("text", models.TextField(blank=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("via", models.CharField(choices=[("web", "on the web"), ("mail", "by mail")], default="web", max_length=4)),
                ("verified", models.BooleanField(default=True)),
                ("message_id", models.CharField(max_length=250, null=True, unique=True)),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.CombinedSearchVector(
                            django.contrib.postgres.search.CombinedSearchVector(
                                django.contrib.postgres.search.SearchVector(
                                    django.db.models.functions.text.Left("text", 20000), config="german"
                                ),
                                "||",
                                django.contrib.postgres.search.SearchVector(
                                    django.db.models.functions.text.Left("text", 20000), config="english"
                                ),
                                django.contrib.postgres.search.SearchConfig("german"),
                            ),
                            "||",
                            django.contrib.postgres.search.SearchVector(
                                django.db.models.functions.text.Left("text", 20000), config="simple"
                            ),
                            django.contrib.postgres.search.SearchConfig("german"),
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Ticket",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("subject", models.CharField(max_length=200, verbose_name="subject")),
                ("address", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "language",
                    models.CharField(choices=[("en", "English"), ("de", "Deutsch")], default="en", max_length=2, verbose_name="language"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "low"), (2, "normal"), (3, "high"), (4, "urgent")], default=2, verbose_name="priority"
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("touched_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("first_answered_at", models.DateTimeField(null=True)),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.CombinedSearchVector(
                            django.contrib.postgres.search.CombinedSearchVector(
                                django.contrib.postgres.search.SearchVector(
                                    django.db.models.functions.text.Left("subject", 20000), config="german"
                                ),
                                "||",
                                django.contrib.postgres.search.SearchVector(
                                    django.db.models.functions.text.Left("subject", 20000), config="english"
                                ),
                                django.contrib.postgres.search.SearchConfig("german"),
                            ),
                            "||",
                            django.contrib.postgres.search.SearchVector(
                                django.db.models.functions.text.Left("subject", 20000), config="simple"
                            ),
                            django.contrib.postgres.search.SearchConfig("german"),
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
            ],
            options={
                "ordering": ["-touched_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="TicketEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("subject", models.CharField(max_length=200, verbose_name="subject")),
                ("address", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "language",
                    models.CharField(choices=[("en", "English"), ("de", "Deutsch")], default="en", max_length=2, verbose_name="language"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("waiting", "waits for an answer"), ("solved", "solved"), ("reopened", "reopened")],
                        default="open",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "low"), (2, "normal"), (3, "high"), (4, "urgent")], default=2, verbose_name="priority"
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30), blank=True, default=list, verbose_name="tags"
                    ),
                ),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Content",
            fields=[
                (
                    "attachment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="tickets.attachment"
                    ),
                ),
                ("octets", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Canned",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=80, unique=True, verbose_name="name")),
                ("text_de", models.TextField(verbose_name="German text")),
                ("text_en", models.TextField(verbose_name="English text")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("name", ""), _negated=True),
                            models.Q(("text_de", ""), _negated=True),
                            models.Q(("text_en", ""), _negated=True),
                        ),
                        name="canned_says_something",
                    )
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="canned",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") SELECT new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."text_de", new_values."text_en", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="e52315b07e4e551416f1e7cf0b2f960aeb4ca4c1",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a97a3",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="tickets_canned",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="canned",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") VALUES (NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."text_de", NEW."text_en", NEW."version"); RETURN NULL;',
                    hash="c11100a88b80458d7a8e412d17b81547284d6044",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b4cf0",
                    table="tickets_canned",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="canned",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") SELECT old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."text_de", old_values."text_en", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="d0615f1a35e01bf74701e366aa15197f77853efe",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_be28b",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="tickets_canned",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="cannedevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="cannedevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="tickets.canned"
            ),
        ),
        migrations.AddField(
            model_name="link",
            name="by",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="message",
            name="author",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="attachment",
            name="message",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="attachments", to="tickets.message"),
        ),
        migrations.AddField(
            model_name="ticket",
            name="assignee",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="tickets",
                to=settings.AUTH_USER_MODEL,
                verbose_name="assignee",
            ),
        ),
        migrations.AddField(
            model_name="ticket",
            name="member",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="tickets", to="members.member", verbose_name="member"
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="ticket",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="tickets.ticket"),
        ),
        migrations.AddField(
            model_name="link",
            name="ticket",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="links", to="tickets.ticket"),
        ),
        migrations.AddField(
            model_name="ticketevent",
            name="assignee",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="assignee",
            ),
        ),
        migrations.AddField(
            model_name="ticketevent",
            name="member",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="members.member",
                verbose_name="member",
            ),
        ),
        migrations.AddField(
            model_name="ticketevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="ticketevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="tickets.ticket"
            ),
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="ticket_attachment_name"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                models.OrderBy(models.F("touched_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="ticket_by_time",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                models.F("state"),
                models.OrderBy(models.F("touched_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="ticket_by_state",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                models.F("assignee"),
                models.OrderBy(models.F("touched_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="ticket_by_assignee",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                models.F("member"),
                models.OrderBy(models.F("touched_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="ticket_by_member",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                models.OrderBy(models.F("priority"), descending=True),
                models.F("touched_at"),
                models.F("id"),
                condition=models.Q(("state__in", ["open", "reopened"])),
                name="ticket_ours",
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("state", "solved"), _negated=True), fields=["state", "assignee"], name="ticket_unsolved"
            ),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(fields=["opened_at"], name="ticket_by_opening"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=django.contrib.postgres.indexes.GinIndex(fields=["tags"], name="ticket_tags"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=django.contrib.postgres.indexes.GinIndex(fields=["search"], name="ticket_search"),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "waiting", "solved", "reopened"])), name="ticket_state"
            ),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(condition=models.Q(("priority__range", (1, 4))), name="ticket_priority"),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(condition=models.Q(("subject", ""), _negated=True), name="ticket_has_a_subject"),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(
                condition=models.Q(("tags__len__lte", 10), models.Q(("tags__contains", [""]), _negated=True)), name="ticket_tags_some"
            ),
        ),
        migrations.AddConstraint(
            model_name="ticket",
            constraint=models.CheckConstraint(
                condition=models.Q(("first_answered_at", None), ("first_answered_at__gte", models.F("opened_at")), _connector="OR"),
                name="ticket_answered_after_opening",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ticket",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "state", "subject", "tags", "version") SELECT new_values."address", new_values."assignee_id", new_values."id", new_values."language", new_values."member_id", new_values."opened_at", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."priority", new_values."state", new_values."subject", new_values."tags", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="3f86c915c1194b437928b8071bf266d903a5188a",
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
                    condition='WHEN (OLD."address" IS DISTINCT FROM (NEW."address") OR OLD."assignee_id" IS DISTINCT FROM (NEW."assignee_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."opened_at" IS DISTINCT FROM (NEW."opened_at") OR OLD."priority" IS DISTINCT FROM (NEW."priority") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."subject" IS DISTINCT FROM (NEW."subject") OR OLD."tags" IS DISTINCT FROM (NEW."tags") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "state", "subject", "tags", "version") VALUES (NEW."address", NEW."assignee_id", NEW."id", NEW."language", NEW."member_id", NEW."opened_at", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."priority", NEW."state", NEW."subject", NEW."tags", NEW."version"); RETURN NULL;',
                    hash="ca0e25f742747b16d8cf695d0a66ae058dba0ed0",
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
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "state", "subject", "tags", "version") SELECT old_values."address", old_values."assignee_id", old_values."id", old_values."language", old_values."member_id", old_values."opened_at", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."priority", old_values."state", old_values."subject", old_values."tags", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="ce79151d6a4b1fb62206035e4070ce4c0852f294",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_84422",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="tickets_ticket",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=django.contrib.postgres.indexes.GinIndex(fields=["search"], name="ticket_message_search"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(condition=models.Q(("kind__in", ["member", "answer", "note"])), name="ticket_message_kind"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(condition=models.Q(("via__in", ["web", "mail"])), name="ticket_message_via"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("author__isnull", False), models.Q(("via", "mail"), models.Q(("kind", "answer"), _negated=True)), _connector="OR"
                ),
                name="ticket_message_author",
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(("message_id", None), models.Q(("message_id", ""), _negated=True), _connector="OR"),
                name="ticket_message_id",
            ),
        ),
        migrations.AddIndex(
            model_name="link",
            index=models.Index(fields=["kind", "object_id"], name="ticket_link_by_object"),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(fields=("ticket", "kind", "object_id"), name="ticket_link_once"),
        ),
    ]
