import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "language",
                    models.CharField(
                        blank=True, choices=[("en", "English"), ("de", "Deutsch")], default="", max_length=2, verbose_name="language"
                    ),
                ),
                (
                    "roles",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles",
                    ),
                ),
                (
                    "is_staff",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Q(("roles__overlap", ["helpdesk", "network_admin", "approver", "auditor", "automation"])),
                        output_field=models.BooleanField(),
                    ),
                ),
                ("keys", models.BooleanField(db_default=True, default=True, verbose_name="single-key shortcuts")),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(django.db.models.functions.text.Lower("username"), name="user_username_unique_without_case"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("roles__contained_by", ["member", "helpdesk", "network_admin", "approver", "auditor", "automation"])
                        ),
                        name="user_roles_are_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UserEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "language",
                    models.CharField(
                        blank=True, choices=[("en", "English"), ("de", "Deutsch")], default="", max_length=2, verbose_name="language"
                    ),
                ),
                (
                    "roles",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles",
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
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("keys", models.BooleanField(db_default=True, default=True, verbose_name="single-key shortcuts")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, verbose_name="purpose")),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("last_used", models.DateTimeField(null=True)),
                ("expires", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tokens", to=settings.AUTH_USER_MODEL),
                ),
                ("member_id", models.BigIntegerField(null=True)),
                ("networks", django.contrib.postgres.fields.ArrayField(base_field=apps.lib.fields.PrefixField(), default=list)),
                ("scopes", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), null=True)),
                ("start", models.CharField(blank=True, default="", max_length=8)),
                ("group_id", models.BigIntegerField(null=True)),
                ("site_id", models.BigIntegerField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("group_id", None), ("member_id", None)),
                            models.Q(("member_id", None), ("site_id", None)),
                            models.Q(("group_id", None), ("site_id", None)),
                            _connector="OR",
                        ),
                        name="apitoken_one_limit_at_most",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiTokenEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("name", models.CharField(max_length=80, verbose_name="purpose")),
                ("sha256", models.CharField(max_length=64)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expires", models.DateTimeField(null=True)),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="accounts.apitoken"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("member_id", models.BigIntegerField(null=True)),
                ("networks", django.contrib.postgres.fields.ArrayField(base_field=apps.lib.fields.PrefixField(), default=list)),
                ("scopes", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), null=True)),
                ("start", models.CharField(blank=True, default="", max_length=8)),
                ("group_id", models.BigIntegerField(null=True)),
                ("site_id", models.BigIntegerField(null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254, verbose_name="e-mail address")),
                (
                    "roles",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles",
                    ),
                ),
                ("made", models.DateTimeField(auto_now_add=True)),
                ("expires", models.DateTimeField()),
                ("taken", models.DateTimeField(null=True)),
                ("withdrawn", models.DateTimeField(null=True)),
                ("by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("taken", None), ("withdrawn", None)),
                        fields=("email",),
                        name="invitation_one_open_for_an_address",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="InvitationEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("email", models.EmailField(max_length=254, verbose_name="e-mail address")),
                (
                    "roles",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles",
                    ),
                ),
                ("made", models.DateTimeField(auto_now_add=True)),
                ("expires", models.DateTimeField()),
                ("taken", models.DateTimeField(null=True)),
                ("withdrawn", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="accounts.invitation"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RoleChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "old",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles before",
                    ),
                ),
                (
                    "new",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles after",
                    ),
                ),
                ("reason", models.CharField(max_length=200, verbose_name="reason")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waits for a second person"), ("done", "done"), ("dropped", "dropped")],
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("asked", models.DateTimeField(auto_now_add=True, verbose_name="requested")),
                ("decided", models.DateTimeField(null=True, verbose_name="decided")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="requested by",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="decided by",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="role_changes",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="account",
                    ),
                ),
            ],
            options={
                "ordering": ["-asked", "-id"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state", "waiting")), fields=("user",), name="rolechange_one_waits"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["waiting", "done", "dropped"])), name="rolechange_state"),
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="rolechange_has_a_reason"),
                    models.CheckConstraint(condition=models.Q(("user", models.F("by")), _negated=True), name="rolechange_not_of_oneself"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            ("decided_by", None),
                            models.Q(("decided_by", models.F("by")), _negated=True),
                            _connector="OR",
                        ),
                        name="rolechange_agreed_by_another",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoleChangeEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                (
                    "old",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles before",
                    ),
                ),
                (
                    "new",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("member", "member"),
                                ("helpdesk", "help desk"),
                                ("network_admin", "network administrator"),
                                ("approver", "approver"),
                                ("auditor", "auditor"),
                                ("automation", "automation"),
                            ],
                            max_length=20,
                        ),
                        default=list,
                        verbose_name="roles after",
                    ),
                ),
                ("reason", models.CharField(max_length=200, verbose_name="reason")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waits for a second person"), ("done", "done"), ("dropped", "dropped")],
                        max_length=8,
                        verbose_name="state",
                    ),
                ),
                ("asked", models.DateTimeField(auto_now_add=True, verbose_name="requested")),
                ("decided", models.DateTimeField(null=True, verbose_name="decided")),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="requested by",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="decided by",
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="accounts.rolechange"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="account",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="user",
            trigger=pgtrigger.compiler.Trigger(
                name="last_network_admin",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n            IF NOT (OLD.is_active AND OLD.roles @> ARRAY['network_admin']::varchar[]) OR (TG_OP = 'UPDATE' AND NEW.is_active AND NEW.roles @> ARRAY['network_admin']::varchar[]) THEN\n                RETURN COALESCE(NEW, OLD);\n            END IF;\n            PERFORM pg_advisory_xact_lock(hashtext('user_last_network_admin'));\n            IF NOT EXISTS (SELECT FROM accounts_user u WHERE u.id <> OLD.id AND u.is_active AND u.roles @> ARRAY['network_admin']::varchar[]) THEN\n                RAISE EXCEPTION 'the last network admin' USING ERRCODE = 'check_violation', CONSTRAINT = 'user_last_network_admin';\n            END IF;\n            RETURN COALESCE(NEW, OLD);\n        ",
                    hash="3212d0a5b3d4036c0b2cbff148701579d5c52541",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_last_network_admin_b0978",
                    table="accounts_user",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="user",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_userevent" ("date_joined", "email", "first_name", "id", "is_active", "keys", "language", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "username") SELECT new_values."date_joined", new_values."email", new_values."first_name", new_values."id", new_values."is_active", new_values."keys", new_values."language", new_values."last_name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."roles", new_values."username" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="a5973d37b62e9b915e1810faed2a463c35314bc2",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_3867c",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="accounts_user",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="user",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."date_joined" IS DISTINCT FROM (NEW."date_joined") OR OLD."email" IS DISTINCT FROM (NEW."email") OR OLD."first_name" IS DISTINCT FROM (NEW."first_name") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."keys" IS DISTINCT FROM (NEW."keys") OR OLD."language" IS DISTINCT FROM (NEW."language") OR OLD."last_name" IS DISTINCT FROM (NEW."last_name") OR OLD."roles" IS DISTINCT FROM (NEW."roles") OR OLD."username" IS DISTINCT FROM (NEW."username"))',
                    func='INSERT INTO "accounts_userevent" ("date_joined", "email", "first_name", "id", "is_active", "keys", "language", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "username") VALUES (NEW."date_joined", NEW."email", NEW."first_name", NEW."id", NEW."is_active", NEW."keys", NEW."language", NEW."last_name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."roles", NEW."username"); RETURN NULL;',
                    hash="f29ea551ac4a74ee92c523525c82ceb0f9aa87f3",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_0e890",
                    table="accounts_user",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="user",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_userevent" ("date_joined", "email", "first_name", "id", "is_active", "keys", "language", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "username") SELECT old_values."date_joined", old_values."email", old_values."first_name", old_values."id", old_values."is_active", old_values."keys", old_values."language", old_values."last_name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."roles", old_values."username" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="513a029dbf99a7527e39e8ec46a946f633563975",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_19f14",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="accounts_user",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apitoken",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_apitokenevent" ("created", "expires", "group_id", "id", "member_id", "name", "networks", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scopes", "sha256", "site_id", "start", "user_id") SELECT new_values."created", new_values."expires", new_values."group_id", new_values."id", new_values."member_id", new_values."name", new_values."networks", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."scopes", new_values."sha256", new_values."site_id", new_values."start", new_values."user_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2f765428d0567b1d33787c1c0420384a005ce7aa",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_01b7d",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="accounts_apitoken",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apitoken",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."member_id" IS DISTINCT FROM (NEW."member_id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."networks" IS DISTINCT FROM (NEW."networks") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes") OR OLD."sha256" IS DISTINCT FROM (NEW."sha256") OR OLD."site_id" IS DISTINCT FROM (NEW."site_id") OR OLD."start" IS DISTINCT FROM (NEW."start") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id"))',
                    func='INSERT INTO "accounts_apitokenevent" ("created", "expires", "group_id", "id", "member_id", "name", "networks", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scopes", "sha256", "site_id", "start", "user_id") VALUES (NEW."created", NEW."expires", NEW."group_id", NEW."id", NEW."member_id", NEW."name", NEW."networks", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."scopes", NEW."sha256", NEW."site_id", NEW."start", NEW."user_id"); RETURN NULL;',
                    hash="85e4f3cac367433b8c6631e8b3e481e7d2493dee",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_df53b",
                    table="accounts_apitoken",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apitoken",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_apitokenevent" ("created", "expires", "group_id", "id", "member_id", "name", "networks", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scopes", "sha256", "site_id", "start", "user_id") SELECT old_values."created", old_values."expires", old_values."group_id", old_values."id", old_values."member_id", old_values."name", old_values."networks", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."scopes", old_values."sha256", old_values."site_id", old_values."start", old_values."user_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="f68230da7749039dbb88778400a0b8afd944b98c",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_6e065",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="accounts_apitoken",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitation",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_invitationevent" ("by_id", "email", "expires", "id", "made", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "taken", "withdrawn") SELECT new_values."by_id", new_values."email", new_values."expires", new_values."id", new_values."made", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."roles", new_values."taken", new_values."withdrawn" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="a599c8518ede9a9d8e0a2e0687643b530ecf48d1",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_8c354",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="accounts_invitation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitation",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "accounts_invitationevent" ("by_id", "email", "expires", "id", "made", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "taken", "withdrawn") VALUES (NEW."by_id", NEW."email", NEW."expires", NEW."id", NEW."made", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."roles", NEW."taken", NEW."withdrawn"); RETURN NULL;',
                    hash="30bbc887095d29f8816d29f6ca09574755a387cc",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_4e12d",
                    table="accounts_invitation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invitation",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_invitationevent" ("by_id", "email", "expires", "id", "made", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "taken", "withdrawn") SELECT old_values."by_id", old_values."email", old_values."expires", old_values."id", old_values."made", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."roles", old_values."taken", old_values."withdrawn" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="097317fc89938afa0e345227fbafc2557c3860a5",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f2c14",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="accounts_invitation",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolechange",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_rolechangeevent" ("asked", "by_id", "decided", "decided_by_id", "id", "new", "old", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "user_id") SELECT new_values."asked", new_values."by_id", new_values."decided", new_values."decided_by_id", new_values."id", new_values."new", new_values."old", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."reason", new_values."state", new_values."user_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="18cbe63aa86a3eaed6e07acea6e64aadd7358e12",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_3f6ca",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="accounts_rolechange",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolechange",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "accounts_rolechangeevent" ("asked", "by_id", "decided", "decided_by_id", "id", "new", "old", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "user_id") VALUES (NEW."asked", NEW."by_id", NEW."decided", NEW."decided_by_id", NEW."id", NEW."new", NEW."old", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."reason", NEW."state", NEW."user_id"); RETURN NULL;',
                    hash="4418d1fe9a57fe66ae13f26132072a745fb739aa",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_44fbd",
                    table="accounts_rolechange",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rolechange",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_rolechangeevent" ("asked", "by_id", "decided", "decided_by_id", "id", "new", "old", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "user_id") SELECT old_values."asked", old_values."by_id", old_values."decided", old_values."decided_by_id", old_values."id", old_values."new", old_values."old", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."reason", old_values."state", old_values."user_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="434e29100479e3b73192d40bbf1e85fc47560bca",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_ed214",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="accounts_rolechange",
                    when="AFTER",
                ),
            ),
        ),
    ]
