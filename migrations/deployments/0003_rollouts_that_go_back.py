import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0002_fencing_tokens"),
        ("network", "0005_how_rollouts_go"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(
            """
            UPDATE deployments_rolloutstep SET state = CASE WHEN unreachable THEN 'away' ELSE 'refused' END WHERE state = 'failed';
            UPDATE deployments_rolloutstep SET state = 'lost' WHERE state = 'applying';
            UPDATE deployments_rollout SET state = 'failed', finished = now(), lease_until = NULL WHERE state IN ('queued', 'applying');
            """,
            migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name="HeldBack",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64)),
                ("removed", models.PositiveIntegerField(default=0)),
                ("of", models.PositiveIntegerField(default=0)),
                ("packed", models.BinaryField()),
                ("text", models.TextField(default="")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("approved", "approved"), ("obsolete", "no longer asked for"), ("done", "done")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("decided", models.DateTimeField(null=True)),
                ("alone", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="HeldBackEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("kind", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64)),
                ("removed", models.PositiveIntegerField(default=0)),
                ("of", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("approved", "approved"), ("obsolete", "no longer asked for"), ("done", "done")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("decided", models.DateTimeField(null=True)),
                ("alone", models.BooleanField(default=False)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("why", models.CharField(max_length=200, verbose_name="why")),
                ("released", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="HoldEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("why", models.CharField(max_length=200, verbose_name="why")),
                ("released", models.DateTimeField(null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RevisionContent",
            fields=[
                (
                    "revision",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="content",
                        serialize=False,
                        to="deployments.revision",
                    ),
                ),
                ("packed", models.BinaryField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="rollout",
            name="rollout_one_at_a_time",
        ),
        migrations.RemoveConstraint(
            model_name="rollout",
            name="rollout_state_known",
        ),
        migrations.RemoveField(
            model_name="rolloutstep",
            name="unreachable",
        ),
        migrations.AddField(
            model_name="gatewaystate",
            name="drift",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="gatewaystate",
            name="drift_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="revision",
            name="again",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="deployments.revision"),
        ),
        migrations.AddField(
            model_name="revision",
            name="management",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="rollout",
            name="attempts",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="rollout",
            name="goes_on",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="rollout",
            name="harmless",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="rollout",
            name="stopped_by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="rollout",
            name="wish",
            field=models.CharField(blank=True, choices=[("pause", "pause"), ("abort", "abort")], max_length=5),
        ),
        migrations.AddField(
            model_name="rolloutstep",
            name="evidence",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="rolloutstep",
            name="flows_cut",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="rolloutstep",
            name="goes_back",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="rollout",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "queued"),
                    ("applying", "applying"),
                    ("paused", "paused"),
                    ("confirmed", "confirmed"),
                    ("failed", "failed"),
                    ("aborted", "aborted"),
                ],
                default="queued",
                max_length=9,
                verbose_name="state",
            ),
        ),
        migrations.AlterField(
            model_name="rolloutstep",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting"),
                    ("sending", "sending"),
                    ("probing", "probing"),
                    ("confirming", "confirming"),
                    ("reverting", "going back"),
                    ("asking", "asking"),
                    ("confirmed", "confirmed"),
                    ("refused", "refused"),
                    ("away", "away"),
                    ("went_back", "went back"),
                    ("lost", "lost"),
                    ("skipped", "skipped"),
                ],
                default="waiting",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="rollout",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["queued", "applying", "paused"])), fields=("group",), name="rollout_one_open_per_group"
            ),
        ),
        migrations.AddConstraint(
            model_name="rollout",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["queued", "applying", "paused", "confirmed", "failed", "aborted"])),
                name="rollout_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="rollout",
            constraint=models.CheckConstraint(condition=models.Q(("wish__in", ["", "pause", "abort"])), name="rollout_wish_is_known"),
        ),
        migrations.AddConstraint(
            model_name="rolloutstep",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "waiting",
                            "sending",
                            "probing",
                            "confirming",
                            "reverting",
                            "asking",
                            "confirmed",
                            "refused",
                            "away",
                            "went_back",
                            "lost",
                            "skipped",
                        ],
                    )
                ),
                name="rolloutstep_state_is_known",
            ),
        ),
        migrations.AddField(
            model_name="heldback",
            name="asked_by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="heldback",
            name="decided_by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="heldback",
            name="group",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="held_back", to="network.gatewaygroup"),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="asked_by",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="decided_by",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="group",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="network.gatewaygroup",
            ),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="deployments.heldback"
            ),
        ),
        migrations.AddField(
            model_name="hold",
            name="by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="hold",
            name="group",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="holds", to="network.gatewaygroup"),
        ),
        migrations.AddField(
            model_name="hold",
            name="released_by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="hold",
            name="revision",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="deployments.revision"),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="by",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="group",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="network.gatewaygroup",
            ),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="deployments.hold"
            ),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="released_by",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="revision",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="deployments.revision",
            ),
        ),
        migrations.AddField(
            model_name="revisioncontent",
            name="base",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="deployments.revision"),
        ),
        migrations.AddConstraint(
            model_name="heldback",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["waiting", "approved"])), fields=("group", "digest"), name="heldback_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="heldback",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "approved", "obsolete", "done"])), name="heldback_state_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="heldback",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("state", "approved"), _negated=True), ("decided__isnull", False), _connector="OR"),
                name="heldback_approved_by_somebody",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asked_by_id", "decided", "decided_by_id", "digest", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "removed", "since", "state") SELECT new_values."alone", new_values."asked_by_id", new_values."decided", new_values."decided_by_id", new_values."digest", new_values."group_id", new_values."id", new_values."kind", new_values."of", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."removed", new_values."since", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="4656413a0615f258375291bbd70a9c325c976b78",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_0b10e",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."alone" IS DISTINCT FROM (NEW."alone") OR OLD."asked_by_id" IS DISTINCT FROM (NEW."asked_by_id") OR OLD."decided" IS DISTINCT FROM (NEW."decided") OR OLD."decided_by_id" IS DISTINCT FROM (NEW."decided_by_id") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."of" IS DISTINCT FROM (NEW."of") OR OLD."removed" IS DISTINCT FROM (NEW."removed") OR OLD."since" IS DISTINCT FROM (NEW."since") OR OLD."state" IS DISTINCT FROM (NEW."state"))',
                    func='INSERT INTO "deployments_heldbackevent" ("alone", "asked_by_id", "decided", "decided_by_id", "digest", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "removed", "since", "state") VALUES (NEW."alone", NEW."asked_by_id", NEW."decided", NEW."decided_by_id", NEW."digest", NEW."group_id", NEW."id", NEW."kind", NEW."of", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."removed", NEW."since", NEW."state"); RETURN NULL;',
                    hash="069b4557d58a94d3528b7c3298c0691afe958f44",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_b7240",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asked_by_id", "decided", "decided_by_id", "digest", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "removed", "since", "state") SELECT old_values."alone", old_values."asked_by_id", old_values."decided", old_values."decided_by_id", old_values."digest", old_values."group_id", old_values."id", old_values."kind", old_values."of", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."removed", old_values."since", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="46860bd809c8ba8c8096a5dcae2f4fac7bbd8d1c",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_ea490",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.UniqueConstraint(condition=models.Q(("released", None)), fields=("group",), name="hold_one_per_group"),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(condition=models.Q(("why", ""), _negated=True), name="hold_says_why"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT new_values."by_id", new_values."group_id", new_values."id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."released", new_values."released_by_id", new_values."revision_id", new_values."since", new_values."why" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="ca0e5f4ec22409bf6ece3e45211997cbb0f667f0",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_b6625",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="deployments_hold",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "deployments_holdevent" ("by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") VALUES (NEW."by_id", NEW."group_id", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."released", NEW."released_by_id", NEW."revision_id", NEW."since", NEW."why"); RETURN NULL;',
                    hash="3d4616b884bf1b41e7bbf6069283d3d66cc6de05",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_735d1",
                    table="deployments_hold",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT old_values."by_id", old_values."group_id", old_values."id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."released", old_values."released_by_id", old_values."revision_id", old_values."since", old_values."why" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="40fa24010e938488a18161c8bb14d23ef92f412f",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_faebd",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="deployments_hold",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="revisioncontent",
            constraint=models.CheckConstraint(
                condition=models.Q(("base", None), ("base__lt", models.F("revision")), _connector="OR"),
                name="revisioncontent_goes_on_from_older",
            ),
        ),
    ]
