import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("url", models.CharField(max_length=1000, verbose_name="address")),
                (
                    "kinds",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), blank=True, default=list, verbose_name="kinds"
                    ),
                ),
                (
                    "on",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=10), blank=True, default=list, verbose_name="events"
                    ),
                ),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="added")),
                ("salt", models.BinaryField(max_length=32)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("rest_until", models.DateTimeField(null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhooks",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("name",), name="webhook_name"),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("name", ""), _negated=True), models.Q(("url", ""), _negated=True)),
                        name="webhook_goes_somewhere",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EndpointEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("url", models.CharField(max_length=1000, verbose_name="address")),
                (
                    "kinds",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), blank=True, default=list, verbose_name="kinds"
                    ),
                ),
                (
                    "on",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=10), blank=True, default=list, verbose_name="events"
                    ),
                ),
                ("active", models.BooleanField(default=True, verbose_name="active")),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="added")),
                (
                    "owner",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
                (
                    "pgh_context",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="pghistory.context",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="webhooks.endpoint"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("event", models.CharField(max_length=60)),
                ("source", models.CharField(blank=True, max_length=80)),
                ("position", models.BigIntegerField(null=True)),
                ("object_id", models.BigIntegerField(null=True)),
                ("body", models.TextField()),
                ("written", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("sent", "sent"), ("failed", "failed"), ("dropped", "dropped")],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("tries", models.PositiveIntegerField(default=0)),
                ("due", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("claimed_until", models.DateTimeField(null=True)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("answer", models.TextField(blank=True)),
                ("error", models.CharField(blank=True, max_length=320)),
                ("ended", models.DateTimeField(null=True)),
                (
                    "endpoint",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="webhooks.endpoint"),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["due", "id"], name="delivery_waiting"),
                    models.Index(fields=["endpoint", "-id"], name="delivery_by_endpoint"),
                    models.Index(condition=models.Q(("ended__isnull", False)), fields=["ended"], name="delivery_to_be_erased"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("endpoint", "source", "position"), name="delivery_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "sent", "failed", "dropped"])), name="delivery_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended", None), ("state", "waiting")),
                            models.Q(models.Q(("state", "waiting"), _negated=True), ("ended__isnull", False)),
                            _connector="OR",
                        ),
                        name="delivery_ended",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Position",
            fields=[
                ("table", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("done", models.BigIntegerField()),
                ("settled", models.BigIntegerField()),
                ("candidate", models.BigIntegerField(null=True)),
                ("holders", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list)),
            ],
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="endpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "webhooks_endpointevent" ("active", "created", "id", "kinds", "name", "on", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "url", "version") SELECT new_values."active", new_values."created", new_values."id", new_values."kinds", new_values."name", new_values."on", new_values."owner_id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."url", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="df379f1d848811895278567f50fea6e12d4c8f3c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_e0322",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="webhooks_endpoint",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="endpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."active" IS DISTINCT FROM (NEW."active") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kinds" IS DISTINCT FROM (NEW."kinds") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."on" IS DISTINCT FROM (NEW."on") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."url" IS DISTINCT FROM (NEW."url") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "webhooks_endpointevent" ("active", "created", "id", "kinds", "name", "on", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "url", "version") VALUES (NEW."active", NEW."created", NEW."id", NEW."kinds", NEW."name", NEW."on", NEW."owner_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."url", NEW."version"); RETURN NULL;',
                    hash="ee4ef0442d74bf93c558d83b94bb5c8b0658c8f9",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_6342c",
                    table="webhooks_endpoint",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="endpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "webhooks_endpointevent" ("active", "created", "id", "kinds", "name", "on", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "url", "version") SELECT old_values."active", old_values."created", old_values."id", old_values."kinds", old_values."name", old_values."on", old_values."owner_id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."url", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="19c9e2de27520bf34f63956671033a19ce370ce8",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_7e399",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="webhooks_endpoint",
                    when="AFTER",
                ),
            ),
        ),
    ]
