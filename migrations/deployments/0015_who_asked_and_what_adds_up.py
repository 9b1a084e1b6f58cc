import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields

# Who had a look made is kept as an asker. That was not always who wrote the change: what waits now has also somebody unknown.
KEEP = """
    INSERT INTO deployments_heldback_askers (heldback_id, user_id)
        SELECT id, asked_by_id FROM deployments_heldback WHERE asked_by_id IS NOT NULL;
    UPDATE deployments_heldback SET asker_unknown = true WHERE state = 'waiting';
    SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    """Everybody who asked for what waits, since when that counts, and what went within an hour without a second person."""

    dependencies = [
        ("deployments", "0014_faults_of_a_gateway_itself"),
        ("network", "0013_words_for_sharing"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="UnapprovedLoss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("packed", models.BinaryField()),
            ],
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="heldback",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="heldback",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="heldback",
            name="delete_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="hold",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="hold",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="hold",
            name="delete_delete",
        ),
        migrations.RemoveConstraint(
            model_name="heldback",
            name="heldback_state_is_known",
        ),
        migrations.RemoveField(
            model_name="heldbackevent",
            name="asked_by",
        ),
        migrations.AddField(
            model_name="heldback",
            name="asker_unknown",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="heldback",
            name="askers",
            field=models.ManyToManyField(related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="heldback",
            name="baseline",
            field=apps.lib.fields.SnapshotField(null=True),
        ),
        migrations.AddField(
            model_name="heldback",
            name="earlier",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="heldback",
            name="reason",
            field=models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="reason"),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="asker_unknown",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="earlier",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="heldbackevent",
            name="reason",
            field=models.CharField(blank=True, db_default="", default="", max_length=200, verbose_name="reason"),
        ),
        migrations.AddField(
            model_name="hold",
            name="alone",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="holdevent",
            name="alone",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="heldback",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting"),
                    ("approved", "approved"),
                    ("refused", "refused"),
                    ("obsolete", "no longer asked for"),
                    ("done", "done"),
                ],
                default="waiting",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="heldbackevent",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting"),
                    ("approved", "approved"),
                    ("refused", "refused"),
                    ("obsolete", "no longer asked for"),
                    ("done", "done"),
                ],
                default="waiting",
                max_length=8,
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="heldback",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") SELECT new_values."alone", new_values."asker_unknown", new_values."decided", new_values."decided_by_id", new_values."digest", new_values."earlier", new_values."group_id", new_values."id", new_values."kind", new_values."of", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."reason", new_values."removed", new_values."since", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="563e940bf4a5312e02531979be0ef0f6b6b51302",
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
                    condition='WHEN (OLD."alone" IS DISTINCT FROM (NEW."alone") OR OLD."asker_unknown" IS DISTINCT FROM (NEW."asker_unknown") OR OLD."decided" IS DISTINCT FROM (NEW."decided") OR OLD."decided_by_id" IS DISTINCT FROM (NEW."decided_by_id") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."earlier" IS DISTINCT FROM (NEW."earlier") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."of" IS DISTINCT FROM (NEW."of") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."removed" IS DISTINCT FROM (NEW."removed") OR OLD."since" IS DISTINCT FROM (NEW."since") OR OLD."state" IS DISTINCT FROM (NEW."state"))',
                    func='INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") VALUES (NEW."alone", NEW."asker_unknown", NEW."decided", NEW."decided_by_id", NEW."digest", NEW."earlier", NEW."group_id", NEW."id", NEW."kind", NEW."of", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."reason", NEW."removed", NEW."since", NEW."state"); RETURN NULL;',
                    hash="c0c17b91a523fd56b22e56a5916f9c1b67019ea2",
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
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") SELECT old_values."alone", old_values."asker_unknown", old_values."decided", old_values."decided_by_id", old_values."digest", old_values."earlier", old_values."group_id", old_values."id", old_values."kind", old_values."of", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."reason", old_values."removed", old_values."since", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="bf199acecde761bc55829eed585f499123bd1904",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_ea490",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="deployments_heldback",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="hold",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT new_values."alone", new_values."by_id", new_values."group_id", new_values."id", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."released", new_values."released_by_id", new_values."revision_id", new_values."since", new_values."why" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="b9b50b43dc13483ff135f7f5fbb46adcb1858973",
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
                    func='INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") VALUES (NEW."alone", NEW."by_id", NEW."group_id", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."released", NEW."released_by_id", NEW."revision_id", NEW."since", NEW."why"); RETURN NULL;',
                    hash="2848753c9b20f46ab905c3353b04835a229fd3e5",
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
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT old_values."alone", old_values."by_id", old_values."group_id", old_values."id", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."released", old_values."released_by_id", old_values."revision_id", old_values."since", old_values."why" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="b672c725dc98018405a296e0205b602e498e8c87",
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
            model_name="heldback",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "approved", "refused", "obsolete", "done"])), name="heldback_state_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="heldback",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("state", "refused"), _negated=True), models.Q(("reason", ""), _negated=True), _connector="OR"),
                name="heldback_refused_for_a_reason",
            ),
        ),
        migrations.AddField(
            model_name="unapprovedloss",
            name="group",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="network.gatewaygroup"),
        ),
        migrations.RunSQL(KEEP, migrations.RunSQL.noop),
        migrations.RemoveField(
            model_name="heldback",
            name="asked_by",
        ),
        migrations.AddIndex(
            model_name="unapprovedloss",
            index=models.Index(fields=["group", "at"], name="unapprovedloss_by_group"),
        ),
    ]
