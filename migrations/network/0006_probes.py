import django.db.models.lookups
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0005_how_rollouts_go"),
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
        pgtrigger.migrations.RemoveTrigger(
            model_name="gatewaygroup",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="gatewaygroup",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="gatewaygroup",
            name="delete_delete",
        ),
        migrations.AddField(
            model_name="gateway",
            name="probe_interface",
            field=models.CharField(blank=True, default="", max_length=15, verbose_name="probe interface"),
        ),
        migrations.AddField(
            model_name="gateway",
            name="probe_public4",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="public IPv4 address of the probe"),
        ),
        migrations.AddField(
            model_name="gateway",
            name="probe_source4",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="private IPv4 address of the probe"),
        ),
        migrations.AddField(
            model_name="gateway",
            name="probe_source6",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address of the probe"),
        ),
        migrations.AddField(
            model_name="gatewayevent",
            name="probe_interface",
            field=models.CharField(blank=True, default="", max_length=15, verbose_name="probe interface"),
        ),
        migrations.AddField(
            model_name="gatewayevent",
            name="probe_public4",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="public IPv4 address of the probe"),
        ),
        migrations.AddField(
            model_name="gatewayevent",
            name="probe_source4",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="private IPv4 address of the probe"),
        ),
        migrations.AddField(
            model_name="gatewayevent",
            name="probe_source6",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address of the probe"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="probe_port",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="TCP port to probe"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="probe_target4",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv4 address to probe"),
        ),
        migrations.AddField(
            model_name="gatewaygroup",
            name="probe_target6",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address to probe"),
        ),
        migrations.AddField(
            model_name="gatewaygroupevent",
            name="probe_port",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="TCP port to probe"),
        ),
        migrations.AddField(
            model_name="gatewaygroupevent",
            name="probe_target4",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv4 address to probe"),
        ),
        migrations.AddField(
            model_name="gatewaygroupevent",
            name="probe_target6",
            field=apps.lib.fields.AddressField(blank=True, null=True, verbose_name="IPv6 address to probe"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gateway",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "ssh_user", "sync", "version", "wan") SELECT new_values."address", new_values."carries4", new_values."carries6", new_values."group_id", new_values."host_key", new_values."id", new_values."lan", new_values."link", new_values."management", new_values."management_networks", new_values."management_port", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."probe_interface", new_values."probe_public4", new_values."probe_source4", new_values."probe_source6", new_values."ssh_user", new_values."sync", new_values."version", new_values."wan" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="8f3910d67bbea76cf5ed70e226431b245d6810f0",
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
                    func='INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "ssh_user", "sync", "version", "wan") VALUES (NEW."address", NEW."carries4", NEW."carries6", NEW."group_id", NEW."host_key", NEW."id", NEW."lan", NEW."link", NEW."management", NEW."management_networks", NEW."management_port", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."probe_interface", NEW."probe_public4", NEW."probe_source4", NEW."probe_source6", NEW."ssh_user", NEW."sync", NEW."version", NEW."wan"); RETURN NULL;',
                    hash="a70c3fa528e1e53d3cbc0855076a819bfbb2690e",
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
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "ssh_user", "sync", "version", "wan") SELECT old_values."address", old_values."carries4", old_values."carries6", old_values."group_id", old_values."host_key", old_values."id", old_values."lan", old_values."link", old_values."management", old_values."management_networks", old_values."management_port", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."probe_interface", old_values."probe_public4", old_values."probe_source4", old_values."probe_source6", old_values."ssh_user", old_values."sync", old_values."version", old_values."wan" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="f54be0eab450b98d6fa9524e1ff54e0b90ad6ef2",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_7182d",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_gateway",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="gatewaygroup",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("confirm_within", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "version") SELECT new_values."confirm_within", new_values."goes_on", new_values."heals_drift", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."probe_port", new_values."probe_target4", new_values."probe_target6", new_values."removal_least", new_values."removal_share", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="cd9b019aa6d65c97a5ec69825bbbbc8270d1e8f2",
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
                    func='INSERT INTO "network_gatewaygroupevent" ("confirm_within", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "version") VALUES (NEW."confirm_within", NEW."goes_on", NEW."heals_drift", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."probe_port", NEW."probe_target4", NEW."probe_target6", NEW."removal_least", NEW."removal_share", NEW."version"); RETURN NULL;',
                    hash="d3e1c6e1592a583c9ae5c61cafd3bbfabef504f2",
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
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("confirm_within", "goes_on", "heals_drift", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "version") SELECT old_values."confirm_within", old_values."goes_on", old_values."heals_drift", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."probe_port", old_values."probe_target4", old_values."probe_target6", old_values."removal_least", old_values."removal_share", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="e07ccd1cea0b5275712508ec5d235137d90d193e",
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
            model_name="gateway",
            constraint=models.UniqueConstraint(fields=("probe_source4",), name="gateway_probe_source4_of_one"),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.UniqueConstraint(fields=("probe_public4",), name="gateway_probe_public4_of_one"),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.UniqueConstraint(fields=("probe_source6",), name="gateway_probe_source6_of_one"),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("probe_public4", None), ("probe_source4", None)),
                    models.Q(
                        ("probe_public4__isnull", False),
                        ("probe_source4__isnull", False),
                        django.db.models.lookups.Exact(
                            models.Func(models.F("probe_source4"), function="family", output_field=models.IntegerField()), 4
                        ),
                        django.db.models.lookups.Exact(
                            models.Func(models.F("probe_public4"), function="family", output_field=models.IntegerField()), 4
                        ),
                    ),
                    _connector="OR",
                ),
                name="gateway_probe_ipv4_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    django.db.models.lookups.Exact(
                        models.Func(models.F("probe_source6"), function="family", output_field=models.IntegerField()), 6
                    )
                ),
                name="gateway_probe_source6_is_ipv6",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("probe_interface", ""), ("probe_source4", None), ("probe_source6", None)),
                    models.Q(
                        models.Q(("probe_interface", ""), _negated=True),
                        models.Q(("probe_source4__isnull", False), ("probe_source6__isnull", False), _connector="OR"),
                    ),
                    _connector="OR",
                ),
                name="gateway_probe_has_interface",
            ),
        ),
        migrations.AddConstraint(
            model_name="gateway",
            constraint=models.CheckConstraint(
                condition=models.Q(("probe_interface__in", [models.F("lan"), models.F("wan"), models.F("management")]), _negated=True),
                name="gateway_probe_interface_differs",
            ),
        ),
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    django.db.models.lookups.Exact(
                        models.Func(models.F("probe_target4"), function="family", output_field=models.IntegerField()), 4
                    )
                ),
                name="group_probe_target4_is_ipv4",
            ),
        ),
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    django.db.models.lookups.Exact(
                        models.Func(models.F("probe_target6"), function="family", output_field=models.IntegerField()), 6
                    )
                ),
                name="group_probe_target6_is_ipv6",
            ),
        ),
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("probe_port", None), ("probe_target4", None), ("probe_target6", None)),
                    models.Q(
                        ("probe_port__isnull", False),
                        ("probe_port__range", (1, 65535)),
                        models.Q(("probe_target4__isnull", False), ("probe_target6__isnull", False), _connector="OR"),
                    ),
                    _connector="OR",
                ),
                name="group_probe_target_has_port",
            ),
        ),
    ]
