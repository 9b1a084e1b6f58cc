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

TABLE = """
    CREATE TABLE {table} (
        holding_id bigint NOT NULL, bucket timestamptz NOT NULL,
        up_octets bigint NOT NULL CHECK (up_octets >= 0), up_packets bigint NOT NULL CHECK (up_packets >= 0),
        down_octets bigint NOT NULL CHECK (down_octets >= 0), down_packets bigint NOT NULL CHECK (down_packets >= 0),
        PRIMARY KEY (holding_id, bucket)
    ) PARTITION BY RANGE (bucket);
    CREATE INDEX {table}_by_time ON {table} USING brin (bucket) WITH (pages_per_range = 32)
"""
# sum() of bigint counts in numeric, with a state of its own for each group; octets of a member stay far below 2^63, and above it this
# one fails rather than lies
TOTAL = """
    CREATE AGGREGATE traffic_total (bigint) (SFUNC = int8pl, STYPE = bigint, INITCOND = '0', COMBINEFUNC = int8pl, PARALLEL = SAFE)
"""


def _usage(name: str) -> migrations.SeparateDatabaseAndState:
    """A table of usage (PostgreSQL manual, "Table Partitioning"): partitions are made by the portal when they are needed."""
    columns = ("up_octets", "up_packets", "down_octets", "down_packets")
    key = models.CompositePrimaryKey("holding_id", "bucket", blank=True, editable=False, primary_key=True, serialize=False)
    fields = [("pk", key), ("holding_id", models.BigIntegerField()), ("bucket", models.DateTimeField())]
    table = f"traffic_{name.lower()}"
    return migrations.SeparateDatabaseAndState(
        state_operations=[
            migrations.CreateModel(
                name=name,
                fields=[*fields, *((column, models.BigIntegerField()) for column in columns)],
                options={"abstract": False},
            )
        ],
        database_operations=[migrations.RunSQL(TABLE.format(table=table), f"DROP TABLE {table}")],
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("lib", "0001_initial"),
        ("members", "0001_initial"),
        ("network", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="FairShare",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("on", models.BooleanField(default=False, verbose_name="share fairly")),
                ("start_percent", models.PositiveSmallIntegerField(default=90)),
                ("end_percent", models.PositiveSmallIntegerField(default=75)),
                ("calm_minutes", models.PositiveSmallIntegerField(default=5)),
                ("minutes", models.PositiveSmallIntegerField(default=10)),
                ("most", models.PositiveSmallIntegerField(default=10)),
                ("limit_minutes", models.PositiveSmallIntegerField(default=10)),
                ("up_kbit", models.PositiveIntegerField(blank=True, default=5000, null=True)),
                ("down_kbit", models.PositiveIntegerField(blank=True, default=5000, null=True)),
                ("since", models.DateTimeField(editable=False, null=True)),
                ("calm_since", models.DateTimeField(editable=False, null=True)),
                ("looked", models.DateTimeField(editable=False, null=True)),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="fair_share", to="network.gatewaygroup"),
                ),
                ("exempt", models.ManyToManyField(blank=True, related_name="+", to="members.tariff")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("end_percent__gte", 1), ("end_percent__lt", models.F("start_percent"))),
                        name="fairshare_end_below_start",
                    ),
                    models.CheckConstraint(condition=models.Q(("start_percent__lte", 100)), name="fairshare_start_percent"),
                    models.CheckConstraint(condition=models.Q(("minutes__range", (5, 60))), name="fairshare_minutes"),
                    models.CheckConstraint(condition=models.Q(("calm_minutes__lte", 60)), name="fairshare_calm_minutes"),
                    models.CheckConstraint(condition=models.Q(("limit_minutes__range", (5, 60))), name="fairshare_limit_minutes"),
                    models.CheckConstraint(condition=models.Q(("most__range", (1, 1000))), name="fairshare_most"),
                    models.CheckConstraint(
                        condition=models.Q(("down_kbit", None), ("up_kbit", None), _negated=True), name="fairshare_some_way"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("up_kbit", None), ("up_kbit__range", (64, 10000000)), _connector="OR"), name="fairshare_up_kbit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("down_kbit", None), ("down_kbit__range", (64, 10000000)), _connector="OR"),
                        name="fairshare_down_kbit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FairShareEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("on", models.BooleanField(default=False, verbose_name="share fairly")),
                ("start_percent", models.PositiveSmallIntegerField(default=90)),
                ("end_percent", models.PositiveSmallIntegerField(default=75)),
                ("calm_minutes", models.PositiveSmallIntegerField(default=5)),
                ("minutes", models.PositiveSmallIntegerField(default=10)),
                ("most", models.PositiveSmallIntegerField(default=10)),
                ("limit_minutes", models.PositiveSmallIntegerField(default=10)),
                ("up_kbit", models.PositiveIntegerField(blank=True, default=5000, null=True)),
                ("down_kbit", models.PositiveIntegerField(blank=True, default=5000, null=True)),
                (
                    "group",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="network.gatewaygroup",
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="traffic.fairshare"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
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
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="upload rate")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="download rate")),
                (
                    "reason",
                    models.CharField(
                        choices=[("congestion", "the uplink is full"), ("quota", "the quota is used up"), ("other", "other reason")],
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
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("member", "="), ("valid", "&&")], name="ratelimit_one_at_a_time"
                    ),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="ratelimit_valid_some_time"),
                    models.CheckConstraint(condition=models.Q(("reason__in", ["congestion", "quota", "other"])), name="ratelimit_reason"),
                    models.CheckConstraint(
                        condition=models.Q(("down_kbit", None), ("up_kbit", None), _negated=True), name="ratelimit_some_way"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("up_kbit", None), ("up_kbit__range", (64, 10000000)), _connector="OR"), name="ratelimit_up_kbit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("down_kbit", None), ("down_kbit__range", (64, 10000000)), _connector="OR"),
                        name="ratelimit_down_kbit",
                    ),
                ],
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
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="upload rate")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="download rate")),
                (
                    "reason",
                    models.CharField(
                        choices=[("congestion", "the uplink is full"), ("quota", "the quota is used up"), ("other", "other reason")],
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
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("up_octets", models.PositiveBigIntegerField(default=0)),
                ("up_packets", models.PositiveBigIntegerField(default=0)),
                ("down_octets", models.PositiveBigIntegerField(default=0)),
                ("down_packets", models.PositiveBigIntegerField(default=0)),
                ("since", models.DateTimeField()),
                ("last", models.DateTimeField()),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gateway")),
                ("holding", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="network.holding")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("gateway", "holding"), name="tally_once_per_gateway")],
            },
        ),
        _usage("FiveMinutes"),
        _usage("Hour"),
        _usage("Day"),
        _usage("Today"),
        _usage("Week"),
        _usage("FourWeeks"),
        migrations.CreateModel(
            name="Span",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("since", "until"), name="span_once"),
                    models.CheckConstraint(condition=models.Q(("until__gt", models.F("since"))), name="span_ends_after_it_begins"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpanUsage",
            fields=[
                ("pk", models.CompositePrimaryKey("span_id", "member_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("member_id", models.BigIntegerField()),
                ("up_octets", models.BigIntegerField()),
                ("down_octets", models.BigIntegerField()),
                ("span", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="traffic.span")),
            ],
        ),
        migrations.CreateModel(
            name="Level",
            fields=[
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("fiveminutes", "Five Minutes"),
                            ("hour", "Hour"),
                            ("day", "Day"),
                            ("today", "Today"),
                            ("week", "Week"),
                            ("fourweeks", "Four Weeks"),
                        ],
                        max_length=11,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("days", models.PositiveIntegerField()),
                ("complete_until", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("days__range", (2, 60)), ("name", "fiveminutes")),
                            models.Q(("days__range", (7, 400)), ("name", "hour")),
                            models.Q(("days__range", (31, 3660)), ("name__in", ["day", "week", "fourweeks"])),
                            models.Q(("days", 2), ("name", "today")),
                            _connector="OR",
                        ),
                        name="level_kept_for_a_sensible_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Collected",
            fields=[
                (
                    "gateway",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="collected",
                        serialize=False,
                        to="network.gateway",
                    ),
                ),
                ("asked", models.PositiveBigIntegerField(default=0)),
                ("told", models.PositiveBigIntegerField(default=0)),
                ("boot", models.CharField(blank=True, default="", max_length=100)),
                ("table", models.PositiveBigIntegerField(default=0)),
                ("log", models.CharField(blank=True, default="", max_length=100)),
                ("sequence", models.PositiveBigIntegerField(default=0)),
                ("gone", models.PositiveBigIntegerField(default=0)),
                ("at", models.DateTimeField(null=True)),
                ("refused", models.TextField(blank=True, default="")),
                ("refused_at", models.DateTimeField(null=True)),
                ("nobodys", models.PositiveIntegerField(default=0)),
                ("skip", models.BooleanField(default=False)),
                ("nobodys_first", models.CharField(blank=True, default="", max_length=60)),
                ("down_bits", models.PositiveBigIntegerField(null=True)),
                ("up_bits", models.PositiveBigIntegerField(null=True)),
                ("rated_at", models.DateTimeField(null=True)),
                ("up_octets", models.PositiveBigIntegerField(default=0)),
                ("down_octets", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="LastCounts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("set", models.CharField(max_length=60)),
                ("elements", models.PositiveIntegerField(default=0)),
                ("keys", models.BinaryField()),
                ("packets", models.BinaryField()),
                ("octets", models.BinaryField()),
                ("owners", models.BinaryField()),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gateway")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("gateway", "set"), name="lastcounts_once_per_set")],
            },
        ),
        migrations.CreateModel(
            name="Coverage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("carried", models.BooleanField()),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gateway")),
            ],
            options={
                "indexes": [models.Index(fields=["gateway", "until"], name="coverage_by_gateway")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("until__gte", models.F("since"))), name="coverage_ends_after_it_begins")
                ],
            },
        ),
        migrations.CreateModel(
            name="Throughput",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("family", models.PositiveSmallIntegerField()),
                ("bucket", models.DateTimeField()),
                ("up_octets", models.BigIntegerField()),
                ("up_packets", models.BigIntegerField()),
                ("down_octets", models.BigIntegerField()),
                ("down_packets", models.BigIntegerField()),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gateway")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("gateway", "family", "bucket"), name="throughput_once_per_bucket"),
                    models.CheckConstraint(condition=models.Q(("family__in", [4, 6])), name="throughput_family"),
                ],
                "indexes": [models.Index(fields=["bucket"], name="throughput_by_time")],
            },
        ),
        migrations.CreateModel(
            name="Quota",
            fields=[
                (
                    "tariff",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="quota",
                        serialize=False,
                        to="members.tariff",
                    ),
                ),
                ("octets", models.PositiveBigIntegerField()),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("octets__gt", 0)), name="quota_is_something")],
            },
        ),
        migrations.CreateModel(
            name="QuotaEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("octets", models.PositiveBigIntegerField()),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="traffic.quota"
                    ),
                ),
                (
                    "tariff",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        serialize=False,
                        to="members.tariff",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="fairshare",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_fairshareevent" ("calm_minutes", "down_kbit", "end_percent", "group_id", "id", "limit_minutes", "minutes", "most", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_percent", "up_kbit", "version") SELECT new_values."calm_minutes", new_values."down_kbit", new_values."end_percent", new_values."group_id", new_values."id", new_values."limit_minutes", new_values."minutes", new_values."most", new_values."on", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."start_percent", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2bf59aebdd3cf0d3c1cc425ac69f202c5476477f",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_5bba2",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="traffic_fairshare",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="fairshare",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."calm_minutes" IS DISTINCT FROM (NEW."calm_minutes") OR OLD."down_kbit" IS DISTINCT FROM (NEW."down_kbit") OR OLD."end_percent" IS DISTINCT FROM (NEW."end_percent") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."limit_minutes" IS DISTINCT FROM (NEW."limit_minutes") OR OLD."minutes" IS DISTINCT FROM (NEW."minutes") OR OLD."most" IS DISTINCT FROM (NEW."most") OR OLD."on" IS DISTINCT FROM (NEW."on") OR OLD."start_percent" IS DISTINCT FROM (NEW."start_percent") OR OLD."up_kbit" IS DISTINCT FROM (NEW."up_kbit") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "traffic_fairshareevent" ("calm_minutes", "down_kbit", "end_percent", "group_id", "id", "limit_minutes", "minutes", "most", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_percent", "up_kbit", "version") VALUES (NEW."calm_minutes", NEW."down_kbit", NEW."end_percent", NEW."group_id", NEW."id", NEW."limit_minutes", NEW."minutes", NEW."most", NEW."on", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."start_percent", NEW."up_kbit", NEW."version"); RETURN NULL;',
                    hash="add7db4579cd703349424ab5bd4ec4d6ab24cbb8",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_bed81",
                    table="traffic_fairshare",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="fairshare",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_fairshareevent" ("calm_minutes", "down_kbit", "end_percent", "group_id", "id", "limit_minutes", "minutes", "most", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_percent", "up_kbit", "version") SELECT old_values."calm_minutes", old_values."down_kbit", old_values."end_percent", old_values."group_id", old_values."id", old_values."limit_minutes", old_values."minutes", old_values."most", old_values."on", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."start_percent", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="081581964deea61d582d8a6c255ebaffb8686012",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_e90d9",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="traffic_fairshare",
                    when="AFTER",
                ),
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
        pgtrigger.migrations.AddTrigger(
            model_name="quota",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") SELECT new_values."octets", _pgh_attached_context.value, NOW(), \'insert\', new_values."tariff_id", new_values."tariff_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="4ba750b0a0064b90106b88ce35bbab3fc0a1142c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_d1c7c",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="traffic_quota",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="quota",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") VALUES (NEW."octets", _pgh_attach_context(), NOW(), \'update\', NEW."tariff_id", NEW."tariff_id"); RETURN NULL;',
                    hash="6a997aaf97d724f01bd4abc44c4e6930adc939dc",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_1a582",
                    table="traffic_quota",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="quota",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") SELECT old_values."octets", _pgh_attached_context.value, NOW(), \'delete\', old_values."tariff_id", old_values."tariff_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="8d5db0bee68ff353170254a5efb52ec1a7ee712b",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_a310d",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="traffic_quota",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(
            "ALTER TABLE traffic_lastcounts ALTER keys SET STORAGE EXTERNAL, ALTER packets SET STORAGE EXTERNAL,"
            " ALTER octets SET STORAGE EXTERNAL, ALTER owners SET STORAGE EXTERNAL",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(TOTAL, "DROP AGGREGATE traffic_total (bigint)"),
    ]
