import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0004_reached_by_ssh"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.CreateModel(
            name="GatewayGroupEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=40, verbose_name="name")),
                ("goes_on", models.BooleanField(default=True, verbose_name="go on without a gateway that does not answer")),
                ("heals_drift", models.BooleanField(default=True, verbose_name="put right what was changed by hand on a gateway")),
                (
                    "confirm_within",
                    models.PositiveSmallIntegerField(default=30, verbose_name="seconds until a gateway takes back what nobody confirmed"),
                ),
                (
                    "removal_share",
                    models.PositiveSmallIntegerField(
                        default=20, verbose_name="removals that wait for a second person: above this share, in percent"
                    ),
                ),
                ("removal_least", models.PositiveIntegerField(default=10, verbose_name="and at least this many")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="confirm_within",
            field=models.PositiveSmallIntegerField(default=30, verbose_name="seconds until a gateway takes back what nobody confirmed"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="goes_on",
            field=models.BooleanField(default=True, verbose_name="go on without a gateway that does not answer"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="heals_drift",
            field=models.BooleanField(default=True, verbose_name="put right what was changed by hand on a gateway"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="removal_least",
            field=models.PositiveIntegerField(default=10, verbose_name="and at least this many"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="removal_share",
            field=models.PositiveSmallIntegerField(
                default=20, verbose_name="removals that wait for a second person: above this share, in percent"
            ),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="version",
            field=models.PositiveIntegerField(default=1, editable=False),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("confirm_within", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "removal_least", "removal_share", "version") SELECT new_values."confirm_within", new_values."goes_on", new_values."heals_drift", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."removal_least", new_values."removal_share", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="1bc2336ddd5f352dcf868f6fca70ed1eed0b7a7c",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_fe8f6",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_gatewaygroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "network_gatewaygroupevent" ("confirm_within", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "removal_least", "removal_share", "version") VALUES (NEW."confirm_within", NEW."goes_on", NEW."heals_drift", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."removal_least", NEW."removal_share", NEW."version"); RETURN NULL;',
                    hash="10020561841cbd27cb3c6aae0cec34ea62cb953a",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_8186a",
                    table="network_gatewaygroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("confirm_within", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "removal_least", "removal_share", "version") SELECT old_values."confirm_within", old_values."goes_on", old_values."heals_drift", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."removal_least", old_values."removal_share", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="879993aec269f0a87e30cac11b8268e4c3464a51",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_2161e",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_gatewaygroup",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(condition=models.Q(("confirm_within__range", (5, 600))), name="gatewaygroup_confirm_within"),
        ),
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(condition=models.Q(("removal_share__range", (0, 100))), name="gatewaygroup_removal_share"),
        ),
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(condition=models.Q(("removal_least__gte", 1)), name="gatewaygroup_removal_least"),
        ),
        migrations.AddField(
            model_name="gatewaygroupevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="gatewaygroupevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.gatewaygroup"
            ),
        ),
    ]
