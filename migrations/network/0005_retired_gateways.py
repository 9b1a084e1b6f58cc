import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0004_gateways_and_probes"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="gateway",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="gateway",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="gateway",
            name="delete_delete",
        ),
        migrations.RemoveConstraint(
            model_name="gateway",
            name="gateway_probe_source4_of_one",
        ),
        migrations.RemoveConstraint(
            model_name="gateway",
            name="gateway_probe_public4_of_one",
        ),
        migrations.RemoveConstraint(
            model_name="gateway",
            name="gateway_probe_source6_of_one",
        ),
        migrations.AddField(
            model_name="gateway",
            name="machine_name",
            field=models.CharField(blank=True, db_default="", default="", max_length=40, verbose_name="name of its agent"),
        ),
        migrations.AddField(
            model_name="gateway",
            name="retired",
            field=models.DateTimeField(blank=True, null=True, verbose_name="out of service since"),
        ),
        migrations.AddField(
            model_name="gatewayevent",
            name="machine_name",
            field=models.CharField(blank=True, db_default="", default="", max_length=40, verbose_name="name of its agent"),
        ),
        migrations.AddField(
            model_name="gatewayevent",
            name="retired",
            field=models.DateTimeField(blank=True, null=True, verbose_name="out of service since"),
        ),
        migrations.AlterField(
            model_name="gateway",
            name="name",
            field=models.CharField(max_length=40, verbose_name="name"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "machine_name", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "retired", "ssh_user", "sync", "version", "wan") SELECT new_values."address", new_values."carries4", new_values."carries6", new_values."group_id", new_values."host_key", new_values."id", new_values."lan", new_values."link", new_values."machine_name", new_values."management", new_values."management_networks", new_values."management_port", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."probe_interface", new_values."probe_public4", new_values."probe_source4", new_values."probe_source6", new_values."retired", new_values."ssh_user", new_values."sync", new_values."version", new_values."wan" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="e5410087e1b4b793a38b2dbb37adc5d7f13ffec3",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_c1e88",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "machine_name", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "retired", "ssh_user", "sync", "version", "wan") VALUES (NEW."address", NEW."carries4", NEW."carries6", NEW."group_id", NEW."host_key", NEW."id", NEW."lan", NEW."link", NEW."machine_name", NEW."management", NEW."management_networks", NEW."management_port", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."probe_interface", NEW."probe_public4", NEW."probe_source4", NEW."probe_source6", NEW."retired", NEW."ssh_user", NEW."sync", NEW."version", NEW."wan"); RETURN NULL;',
                    hash="9c86ee4b11be017b432282b6aa0b9bea88679f65",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_62340",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "machine_name", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "retired", "ssh_user", "sync", "version", "wan") SELECT old_values."address", old_values."carries4", old_values."carries6", old_values."group_id", old_values."host_key", old_values."id", old_values."lan", old_values."link", old_values."machine_name", old_values."management", old_values."management_networks", old_values."management_port", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."probe_interface", old_values."probe_public4", old_values."probe_source4", old_values."probe_source6", old_values."retired", old_values."ssh_user", old_values."sync", old_values."version", old_values."wan" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="21db5fdfa7b4f5fc77c1ba28f5115cacac9a49fd",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_7182d",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.UniqueConstraint(condition=models.Q(("retired", None)), fields=("name",), name="gateway_name_of_one"),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(("retired", None), models.Q(("carries4", False), ("carries6", False)), _connector="OR"),
                name="gateway_retired_is_no_primary",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.UniqueConstraint(
                condition=models.Q(("retired", None)), fields=("probe_source4",), name="gateway_probe_source4_of_one"
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.UniqueConstraint(
                condition=models.Q(("retired", None)), fields=("probe_public4",), name="gateway_probe_public4_of_one"
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.UniqueConstraint(
                condition=models.Q(("retired", None)), fields=("probe_source6",), name="gateway_probe_source6_of_one"
            ),
        ),
    ]
