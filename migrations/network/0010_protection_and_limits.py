import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import apps.lib.fields


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0009_flood_mode"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.CreateModel(
            name="Limits",
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
                ("member_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of a member, a second")),
                ("member_burst", models.PositiveIntegerField(default=100, verbose_name="and so many at once")),
                ("member_open", models.PositiveIntegerField(default=0, verbose_name="open connections of a member")),
                ("source_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of a foreign address, a second")),
                ("source_burst", models.PositiveIntegerField(default=100, verbose_name="and so many at once")),
                ("source_open", models.PositiveIntegerField(default=0, verbose_name="open connections of a foreign address")),
                (
                    "mail_rate",
                    models.PositiveIntegerField(default=0, verbose_name="connections of a member to mail servers (port 25), a minute"),
                ),
                ("refuses", models.BooleanField(default=True, verbose_name="refuse what is over, instead of dropping it in silence")),
                (
                    "exempt",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="without limits"
                    ),
                ),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="limits", to="network.gatewaygroup"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LimitsEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("member_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of a member, a second")),
                ("member_burst", models.PositiveIntegerField(default=100, verbose_name="and so many at once")),
                ("member_open", models.PositiveIntegerField(default=0, verbose_name="open connections of a member")),
                ("source_rate", models.PositiveIntegerField(default=0, verbose_name="new connections of a foreign address, a second")),
                ("source_burst", models.PositiveIntegerField(default=100, verbose_name="and so many at once")),
                ("source_open", models.PositiveIntegerField(default=0, verbose_name="open connections of a foreign address")),
                (
                    "mail_rate",
                    models.PositiveIntegerField(default=0, verbose_name="connections of a member to mail servers (port 25), a minute"),
                ),
                ("refuses", models.BooleanField(default=True, verbose_name="refuse what is over, instead of dropping it in silence")),
                (
                    "exempt",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="without limits"
                    ),
                ),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.limits"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Protection",
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
                ("bogons", models.BooleanField(default=False, verbose_name="refuse addresses that cannot be on the internet")),
                (
                    "own",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="but not these"
                    ),
                ),
                (
                    "bgp_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="BGP neighbours"
                    ),
                ),
                (
                    "ospf_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="OSPF neighbours"
                    ),
                ),
                (
                    "ftp_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="FTP ports"
                    ),
                ),
                (
                    "sip_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="SIP ports"
                    ),
                ),
                (
                    "group",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="protection", to="network.gatewaygroup"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProtectionEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("bogons", models.BooleanField(default=False, verbose_name="refuse addresses that cannot be on the internet")),
                (
                    "own",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.PrefixField(), blank=True, default=list, verbose_name="but not these"
                    ),
                ),
                (
                    "bgp_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="BGP neighbours"
                    ),
                ),
                (
                    "ospf_peers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=apps.lib.fields.AddressField(), blank=True, default=list, verbose_name="OSPF neighbours"
                    ),
                ),
                (
                    "ftp_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="FTP ports"
                    ),
                ),
                (
                    "sip_ports",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), blank=True, default=list, verbose_name="SIP ports"
                    ),
                ),
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
                        db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="network.protection"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Gauge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("used", models.PositiveIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("gateway", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="gauges", to="network.gateway")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("gateway", "name"), name="gauge_of_one_set")],
            },
        ),
        migrations.AddConstraint(
            model_name="limits",
            constraint=models.CheckConstraint(
                condition=models.Q(("mail_rate__lte", 100000), ("member_rate__lte", 100000), ("source_rate__lte", 100000)),
                name="limits_rates",
            ),
        ),
        migrations.AddConstraint(
            model_name="limits",
            constraint=models.CheckConstraint(
                condition=models.Q(("member_burst__range", (1, 100000)), ("source_burst__range", (1, 100000))), name="limits_bursts"
            ),
        ),
        migrations.AddConstraint(
            model_name="limits",
            constraint=models.CheckConstraint(
                condition=models.Q(("member_open__lte", 1000000), ("source_open__lte", 1000000)), name="limits_open"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="43d47838f7bd05e7e451a45b10f03b5dabd97a7f",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_a4b8e",
                    table="network_limits",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") SELECT new_values."exempt", new_values."group_id", new_values."id", new_values."mail_rate", new_values."member_burst", new_values."member_open", new_values."member_rate", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."refuses", new_values."source_burst", new_values."source_open", new_values."source_rate", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="491a6fe4ff99300019f0b3ecf9d4e9a95b51bce3",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_00c56",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_limits",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."exempt" IS DISTINCT FROM (NEW."exempt") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."mail_rate" IS DISTINCT FROM (NEW."mail_rate") OR OLD."member_burst" IS DISTINCT FROM (NEW."member_burst") OR OLD."member_open" IS DISTINCT FROM (NEW."member_open") OR OLD."member_rate" IS DISTINCT FROM (NEW."member_rate") OR OLD."refuses" IS DISTINCT FROM (NEW."refuses") OR OLD."source_burst" IS DISTINCT FROM (NEW."source_burst") OR OLD."source_open" IS DISTINCT FROM (NEW."source_open") OR OLD."source_rate" IS DISTINCT FROM (NEW."source_rate") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") VALUES (NEW."exempt", NEW."group_id", NEW."id", NEW."mail_rate", NEW."member_burst", NEW."member_open", NEW."member_rate", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."refuses", NEW."source_burst", NEW."source_open", NEW."source_rate", NEW."version"); RETURN NULL;',
                    hash="02d83e8add0111aeeb72699c5923fe1357e84b68",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_426fa",
                    table="network_limits",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="limits",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") SELECT old_values."exempt", old_values."group_id", old_values."id", old_values."mail_rate", old_values."member_burst", old_values."member_open", old_values."member_rate", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."refuses", old_values."source_burst", old_values."source_open", old_values."source_rate", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="695234b7c0a52e9411e581c588f69f9bbff78788",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_b0139",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_limits",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="protection",
            constraint=models.CheckConstraint(
                condition=models.Q(("ftp_ports__len__lte", 16), ("sip_ports__len__lte", 16)), name="protection_few_helper_ports"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="stamp_transaction",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;",
                    hash="9dd50f924971d3d4602b1b591337c8b49f04761e",
                    operation="UPDATE",
                    pgid="pgtrigger_stamp_transaction_e24e5",
                    table="network_protection",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") SELECT new_values."bgp_peers", new_values."bogons", new_values."ftp_ports", new_values."group_id", new_values."id", new_values."ospf_peers", new_values."own", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."sip_ports", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="2d4e081f7d0117f7d723db95391cd4befb9f762a",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_92d85",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="network_protection",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."bgp_peers" IS DISTINCT FROM (NEW."bgp_peers") OR OLD."bogons" IS DISTINCT FROM (NEW."bogons") OR OLD."ftp_ports" IS DISTINCT FROM (NEW."ftp_ports") OR OLD."group_id" IS DISTINCT FROM (NEW."group_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."ospf_peers" IS DISTINCT FROM (NEW."ospf_peers") OR OLD."own" IS DISTINCT FROM (NEW."own") OR OLD."sip_ports" IS DISTINCT FROM (NEW."sip_ports") OR OLD."version" IS DISTINCT FROM (NEW."version"))',
                    func='INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") VALUES (NEW."bgp_peers", NEW."bogons", NEW."ftp_ports", NEW."group_id", NEW."id", NEW."ospf_peers", NEW."own", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."sip_ports", NEW."version"); RETURN NULL;',
                    hash="175c5472631a43269fb1bb1f0613180f9c2f5b3e",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_25f99",
                    table="network_protection",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="protection",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") SELECT old_values."bgp_peers", old_values."bogons", old_values."ftp_ports", old_values."group_id", old_values."id", old_values."ospf_peers", old_values."own", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."sip_ports", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="9bca9b261ed9f5116a2b76d9c64bccba81f06679",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_bb881",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="network_protection",
                    when="AFTER",
                ),
            ),
        ),
    ]
