import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0003_tariffs_have_rates"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("traffic", "0001_tallies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RateLimit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                (
                    "changed_in",
                    apps.lib.fields.TransactionIdField(
                        db_default=django.db.models.expressions.RawSQL("pg_current_xact_id()", ()), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="rate up")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="rate down")),
                (
                    "reason",
                    models.CharField(
                        choices=[("congestion", "the uplink is full"), ("quota", "the quota is used up"), ("other", "another reason")],
                        max_length=10,
                        verbose_name="reason",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="internal note")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "author",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="rate_limits", to="members.member")),
                (
                    "released_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="RateLimitEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="rate up")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="rate down")),
                (
                    "reason",
                    models.CharField(
                        choices=[("congestion", "the uplink is full"), ("quota", "the quota is used up"), ("other", "another reason")],
                        max_length=10,
                        verbose_name="reason",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="internal note")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                (
                    "author",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.member",
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="traffic.ratelimit"
                    ),
                ),
                (
                    "released_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="ratelimit",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                expressions=[("member", "="), ("valid", "&&")], name="ratelimit_one_at_a_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="ratelimit",
            constraint=models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="ratelimit_valid_some_time"),
        ),
        migrations.AddConstraint(
            model_name="ratelimit",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason__in", ["congestion", "quota", "other"])), name="ratelimit_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="ratelimit",
            constraint=models.CheckConstraint(
                condition=models.Q(("down_kbit", None), ("up_kbit", None), _negated=True), name="ratelimit_some_way"
            ),
        ),
        migrations.AddConstraint(
            model_name="ratelimit",
            constraint=models.CheckConstraint(
                condition=models.Q(("up_kbit", None), ("up_kbit__range", (64, 10000000)), _connector="OR"), name="ratelimit_up_kbit"
            ),
        ),
        migrations.AddConstraint(
            model_name="ratelimit",
            constraint=models.CheckConstraint(
                condition=models.Q(("down_kbit", None), ("down_kbit__range", (64, 10000000)), _connector="OR"), name="ratelimit_down_kbit"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ratelimit",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."down_kbit" IS DISTINCT FROM (NEW."down_kbit") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."up_kbit" IS DISTINCT FROM (NEW."up_kbit") OR OLD."valid" IS DISTINCT FROM (NEW."valid"))',
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="bd9bc5e02bc46c6e95826f6a91a6eaf1fbf14040",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_b8458",
                    table="traffic_ratelimit",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ratelimit",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_ratelimitevent" ("author_id", "down_kbit", "id", "member_id", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "released_by_id", "up_kbit", "valid", "version") SELECT new_values."author_id", new_values."down_kbit", new_values."id", new_values."member_id", new_values."note", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."reason", new_values."released_by_id", new_values."up_kbit", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="a772072e7fcc0864a66068a65cc85b967e311eb5",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_0b1d2",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="traffic_ratelimit",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ratelimit",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."author_id" IS DISTINCT FROM (NEW."author_id") OR OLD."down_kbit" IS DISTINCT FROM (NEW."down_kbit") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."released_by_id" IS DISTINCT FROM (NEW."released_by_id") OR OLD."up_kbit" IS DISTINCT FROM (NEW."up_kbit") OR OLD."valid" IS DISTINCT FROM (NEW."valid") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "traffic_ratelimitevent" ("author_id", "down_kbit", "id", "member_id", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "released_by_id", "up_kbit", "valid", "version") VALUES (NEW."author_id", NEW."down_kbit", NEW."id", NEW."member_id", NEW."note", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."reason", NEW."released_by_id", NEW."up_kbit", NEW."valid", NEW."version"); RETURN NULL;',
                    hash="e41aca489e108c590e806b8895dc8435f38f443f",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_7edf5",
                    table="traffic_ratelimit",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="ratelimit",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_ratelimitevent" ("author_id", "down_kbit", "id", "member_id", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "released_by_id", "up_kbit", "valid", "version") SELECT old_values."author_id", old_values."down_kbit", old_values."id", old_values."member_id", old_values."note", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."reason", old_values."released_by_id", old_values."up_kbit", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="49fe5b2365dbe0688be95459c4e0de97b4f8b080",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_45dc7",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="traffic_ratelimit",
                    when="AFTER",
                ),
            ),
        ),
    ]
