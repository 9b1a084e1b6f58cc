import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.contrib.postgres.operations import UnaccentExtension
from django.db import migrations, models

import apps.lib.fields

# The index of members' names holds them without accents. PostgreSQL calls unaccent only stable, because its rules are a file. They change
# at most with a major version, and then an index finds what it found before. In PL/pgSQL, because an SQL function of this kind cannot be
# inlined and takes longer for each row.
FUNCTION = """
CREATE FUNCTION without_accents(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN lower(public.unaccent('public.unaccent'::regdictionary, value));
END
$$;
"""
NO_FUNCTION = "DROP FUNCTION without_accents(text);"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("lib", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        UnaccentExtension(),
        migrations.RunSQL(FUNCTION, NO_FUNCTION),
        migrations.CreateModel(
            name="Tariff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True, verbose_name="name")),
                ("most_forwards", models.PositiveSmallIntegerField(default=8, verbose_name="port forwards, at most")),
                ("trial", models.BooleanField(default=False, verbose_name="trial tariff")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="download rate")),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="upload rate")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("most_devices", models.PositiveSmallIntegerField(db_default=8, default=8, verbose_name="devices, at most")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("up_kbit", None), ("up_kbit__range", (64, 10000000)), _connector="OR"), name="tariff_up_kbit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("down_kbit", None), ("down_kbit__range", (64, 10000000)), _connector="OR"),
                        name="tariff_down_kbit",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Site",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, unique=True, verbose_name="name")),
                ("code", models.CharField(max_length=8, unique=True, verbose_name="code")),
            ],
            options={
                "ordering": ["code"],
            },
        ),
        migrations.CreateModel(
            name="Room",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("floor", models.SmallIntegerField(verbose_name="floor")),
                ("name", models.CharField(max_length=20, verbose_name="name")),
                ("site", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="rooms", to="members.site")),
            ],
            options={
                "ordering": ["site__code", "name"],
                "constraints": [models.UniqueConstraint(fields=("site", "name"), name="room_name_once_per_site")],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("number", models.PositiveIntegerField(unique=True, verbose_name="number")),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "language",
                    models.CharField(choices=[("en", "English"), ("de", "Deutsch")], default="en", max_length=2, verbose_name="language"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "not yet active"), ("active", "active"), ("left", "left")],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("since", models.DateField(verbose_name="member since")),
                ("paid_until", models.DateField(blank=True, null=True, verbose_name="paid until")),
                ("note", models.TextField(blank=True, verbose_name="note")),
                (
                    "user",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="member",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "room",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="members",
                        to="members.room",
                        verbose_name="room",
                    ),
                ),
                ("tariff", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="members.tariff", verbose_name="tariff")),
                ("erased_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="personal data erased")),
                ("left_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="left")),
            ],
            options={
                "ordering": ["name", "id"],
                "indexes": [
                    models.Index(fields=["name", "id"], name="member_by_name"),
                    models.Index(fields=["state", "name", "id"], name="member_by_state_and_name"),
                    models.Index(fields=["paid_until", "name", "id"], name="member_by_end_of_payment"),
                    models.Index(fields=["state", "tariff"], name="member_counted"),
                    models.Index(condition=models.Q(("erased_at", None)), fields=["left_at"], name="member_left_and_not_erased"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            models.Func("name", function="without_accents", output_field=models.TextField()), "gin_trgm_ops"
                        ),
                        name="member_name_search",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="member_has_a_name"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["pending", "active", "left"])), name="member_state_known"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("left_at__isnull", False), ("state", "left")),
                            models.Q(models.Q(("state", "left"), _negated=True), ("left_at", None)),
                            _connector="OR",
                        ),
                        name="member_left_at_some_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("erased_at", None), ("state", "left"), _connector="OR"), name="member_erased_has_left"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemberEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("name", models.CharField(max_length=120, verbose_name="name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="e-mail")),
                (
                    "language",
                    models.CharField(choices=[("en", "English"), ("de", "Deutsch")], default="en", max_length=2, verbose_name="language"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "not yet active"), ("active", "active"), ("left", "left")],
                        default="pending",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("since", models.DateField(verbose_name="member since")),
                ("paid_until", models.DateField(blank=True, null=True, verbose_name="paid until")),
                ("note", models.TextField(blank=True, verbose_name="note")),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="members.member"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "room",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.room",
                        verbose_name="room",
                    ),
                ),
                (
                    "tariff",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="members.tariff",
                        verbose_name="tariff",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Device",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("mac", apps.lib.fields.MacField(unique=True, verbose_name="MAC address")),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="devices", to="members.member")),
            ],
            options={
                "ordering": ["name", "id"],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("name"), "gin_trgm_ops"),
                        name="device_name_search",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Replace(
                                django.db.models.functions.comparison.Cast("mac", models.TextField()),
                                models.Value(":"),
                                models.Value(""),
                                output_field=models.TextField(),
                            ),
                            "gin_trgm_ops",
                        ),
                        name="device_mac_search",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeviceEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("mac", apps.lib.fields.MacField(verbose_name="MAC address")),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="members.device"
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
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("valid", django.contrib.postgres.fields.ranges.DateTimeRangeField(verbose_name="valid")),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="members.member")),
            ],
            options={
                "ordering": ["valid"],
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("member", "="), ("valid", "&&")], name="membership_once_at_a_time"
                    ),
                    models.CheckConstraint(condition=models.Q(("valid__isempty", False)), name="membership_some_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Departure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("on", models.DateField(verbose_name="on")),
                (
                    "state",
                    models.CharField(
                        choices=[("planned", "planned"), ("done", "done"), ("dropped", "dropped")],
                        default="planned",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("planned", models.DateTimeField(auto_now_add=True, verbose_name="planned")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="planned by",
                    ),
                ),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="departures", to="members.member")),
            ],
            options={
                "ordering": ["on", "id"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state", "planned")), fields=("member",), name="departure_one_planned"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["planned", "done", "dropped"])), name="departure_state"),
                ],
            },
        ),
        migrations.CreateModel(
            name="DepartureEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("on", models.DateField(verbose_name="on")),
                (
                    "state",
                    models.CharField(
                        choices=[("planned", "planned"), ("done", "done"), ("dropped", "dropped")],
                        default="planned",
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("planned", models.DateTimeField(auto_now_add=True, verbose_name="planned")),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="planned by",
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="members.departure"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MemberInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("made", models.DateTimeField(auto_now_add=True, verbose_name="invited")),
                ("expires", models.DateTimeField(verbose_name="link ends")),
                ("taken", models.DateTimeField(null=True, verbose_name="accepted")),
                ("withdrawn", models.DateTimeField(null=True, verbose_name="withdrawn")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="invited by",
                    ),
                ),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="members.member")),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("taken", None), ("withdrawn", None)), fields=("member",), name="memberinvitation_one_open"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("taken", None), ("withdrawn", None), _connector="OR"),
                        name="memberinvitation_taken_or_withdrawn",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemberInvitationEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("made", models.DateTimeField(auto_now_add=True, verbose_name="invited")),
                ("expires", models.DateTimeField(verbose_name="link ends")),
                ("taken", models.DateTimeField(null=True, verbose_name="accepted")),
                ("withdrawn", models.DateTimeField(null=True, verbose_name="withdrawn")),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="invited by",
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
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="members.memberinvitation",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="member",
            trigger=pgtrigger.compiler.Trigger(
                name="notes_when_left",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n            IF NEW.state <> 'left' THEN\n                NEW.left_at = NULL;\n            ELSIF TG_OP = 'UPDATE' THEN\n                NEW.left_at = COALESCE(NEW.left_at, OLD.left_at, clock_timestamp());\n            ELSE\n                NEW.left_at = COALESCE(NEW.left_at, clock_timestamp());\n            END IF;\n            RETURN NEW;\n        ",
                    hash="115e5af8ddd638b1945398b471d6bd94648d9839",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_notes_when_left_98df4",
                    table="members_member",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="member",
            trigger=pgtrigger.compiler.Trigger(
                name="periods_of_new",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    INSERT INTO members_membership (member_id, valid)\n    SELECT n.id, tstzrange(least(n.since::timestamptz, clock_timestamp()), NULL) FROM new_values n WHERE n.state = 'active';\nRETURN NULL;",
                    hash="348fb4f00c5ca5f3606380d0f7cf8dbb0c7d8c4b",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_periods_of_new_db609",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_member",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="member",
            trigger=pgtrigger.compiler.Trigger(
                name="periods_of_changed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    UPDATE members_membership m\n    SET valid = tstzrange(lower(m.valid), greatest(clock_timestamp(), lower(m.valid) + interval '1 microsecond'))\n    FROM old_values o JOIN new_values n ON n.id = o.id\n    WHERE o.state = 'active' AND n.state <> 'active' AND m.member_id = n.id AND upper_inf(m.valid);\n\n    INSERT INTO members_membership (member_id, valid) SELECT n.id, tstzrange(greatest(\n        clock_timestamp(), (SELECT max(upper(m.valid)) FROM members_membership m WHERE m.member_id = n.id)), NULL)\n    FROM old_values o JOIN new_values n ON n.id = o.id WHERE o.state <> 'active' AND n.state = 'active';\nRETURN NULL;",
                    hash="780ef6ac77866e295d2a02c8b9e1335191374423",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_periods_of_changed_d44df",
                    referencing="REFERENCING OLD TABLE AS old_values  NEW TABLE AS new_values ",
                    table="members_member",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="member",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberevent" ("email", "id", "language", "name", "note", "number", "paid_until", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "room_id", "since", "state", "tariff_id", "user_id", "version") SELECT new_values."email", new_values."id", new_values."language", new_values."name", new_values."note", new_values."number", new_values."paid_until", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."room_id", new_values."since", new_values."state", new_values."tariff_id", new_values."user_id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="8f26db52f768cda4f16f67515ce3c2bce17a3eb5",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_2df50",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_member",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="member",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."email" IS DISTINCT FROM (NEW."email") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."note" IS DISTINCT FROM (NEW."note") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."paid_until" IS DISTINCT FROM (NEW."paid_until") OR OLD."room_id" IS DISTINCT FROM (NEW."room_id") OR OLD."since" IS DISTINCT FROM (NEW."since") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."tariff_id" IS DISTINCT FROM (NEW."tariff_id") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "members_memberevent" ("email", "id", "language", "name", "note", "number", "paid_until", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "room_id", "since", "state", "tariff_id", "user_id", "version") VALUES (NEW."email", NEW."id", NEW."language", NEW."name", NEW."note", NEW."number", NEW."paid_until", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."room_id", NEW."since", NEW."state", NEW."tariff_id", NEW."user_id", NEW."version"); RETURN NULL;',
                    hash="18486ee18581b251c81ecee1d1d97557417bda6f",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b1bc1",
                    table="members_member",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="member",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberevent" ("email", "id", "language", "name", "note", "number", "paid_until", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "room_id", "since", "state", "tariff_id", "user_id", "version") SELECT old_values."email", old_values."id", old_values."language", old_values."name", old_values."note", old_values."number", old_values."paid_until", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."room_id", old_values."since", old_values."state", old_values."tariff_id", old_values."user_id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="ffaa58a2648a7cc3e8684ff4b7ece6b9e30cf17b",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_925fb",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_member",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="device",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_deviceevent" ("id", "mac", "member_id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT new_values."id", new_values."mac", new_values."member_id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="9bdab519264fa9b8fd9414846a8ff621a75405cd",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_68072",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_device",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="device",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "members_deviceevent" ("id", "mac", "member_id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."id", NEW."mac", NEW."member_id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id"); RETURN NULL;',
                    hash="426f730490daac5ed746279d97cc983434a0b753",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_5d09d",
                    table="members_device",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="device",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_deviceevent" ("id", "mac", "member_id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT old_values."id", old_values."mac", old_values."member_id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="1fcbea7ade6b386663a5e5e779a59426350641a9",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f481e",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_device",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="departure",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_departureevent" ("by_id", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "state") SELECT new_values."by_id", new_values."id", new_values."member_id", new_values."on", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."planned", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="789951c19d6cfb1c32b9196ed32aa850a72aef5c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_6b74f",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_departure",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="departure",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "members_departureevent" ("by_id", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "state") VALUES (NEW."by_id", NEW."id", NEW."member_id", NEW."on", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."planned", NEW."state"); RETURN NULL;',
                    hash="0dc3ced70ebb735b8fb3048a366814c92488ff2f",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b6194",
                    table="members_departure",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="departure",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_departureevent" ("by_id", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "state") SELECT old_values."by_id", old_values."id", old_values."member_id", old_values."on", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."planned", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="63fcdab5e6be9dc55cd6072e83e6009892714076",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_1ffb6",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_departure",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memberinvitation",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberinvitationevent" ("by_id", "expires", "id", "made", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "taken", "withdrawn") SELECT new_values."by_id", new_values."expires", new_values."id", new_values."made", new_values."member_id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."taken", new_values."withdrawn" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="e8c0d22d1e441f2b1333043b420fee1c255ec699",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_6f328",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_memberinvitation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memberinvitation",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "members_memberinvitationevent" ("by_id", "expires", "id", "made", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "taken", "withdrawn") VALUES (NEW."by_id", NEW."expires", NEW."id", NEW."made", NEW."member_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."taken", NEW."withdrawn"); RETURN NULL;',
                    hash="3da5d0a963b6960d54a46ded9573ae1972d37214",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b90b7",
                    table="members_memberinvitation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="memberinvitation",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberinvitationevent" ("by_id", "expires", "id", "made", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "taken", "withdrawn") SELECT old_values."by_id", old_values."expires", old_values."id", old_values."made", old_values."member_id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."taken", old_values."withdrawn" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="0d4fa4d6e69b2568589512494bc82d2a52b67d9b",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_34779",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_memberinvitation",
                    when="AFTER",
                ),
            ),
        ),
    ]
