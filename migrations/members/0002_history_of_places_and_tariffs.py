import django.db.models.deletion
import django.db.models.functions.text
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0001_initial"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.CreateModel(
            name="RoomEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("floor", models.SmallIntegerField(verbose_name="floor")),
                ("name", models.CharField(max_length=20, verbose_name="name")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SiteEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("code", models.CharField(max_length=8, verbose_name="code")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="TariffEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("most_forwards", models.PositiveSmallIntegerField(default=8, verbose_name="port forwards, at most")),
                ("most_devices", models.PositiveSmallIntegerField(db_default=8, default=8, verbose_name="devices, at most")),
                ("trial", models.BooleanField(default=False, verbose_name="trial tariff")),
                ("offered", models.BooleanField(db_default=True, default=True, verbose_name="offered")),
                ("up_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="upload rate")),
                ("down_kbit", models.PositiveIntegerField(blank=True, null=True, verbose_name="download rate")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.RemoveConstraint(
            model_name="room",
            name="room_name_once_per_site",
        ),
        migrations.AddField(
            model_name="room",
            name="version",
            field=models.PositiveIntegerField(default=1, editable=False),
        ),
        migrations.AddField(
            model_name="site",
            name="version",
            field=models.PositiveIntegerField(default=1, editable=False),
        ),
        migrations.AddField(
            model_name="tariff",
            name="offered",
            field=models.BooleanField(db_default=True, default=True, verbose_name="offered"),
        ),
        migrations.AlterField(
            model_name="room",
            name="site",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="rooms", to="members.site", verbose_name="site"
            ),
        ),
        migrations.AlterField(
            model_name="site",
            name="code",
            field=models.CharField(max_length=8, verbose_name="code"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="room",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_roomevent" ("floor", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "site_id", "version") SELECT new_values."floor", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."site_id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="5a94cb1f8d1cc8044e654a878e76a91a38779245",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_04853",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_room",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="room",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "members_roomevent" ("floor", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "site_id", "version") VALUES (NEW."floor", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."site_id", NEW."version"); RETURN NULL;',
                    hash="194bbe67efbc33adc3757ffd1f88bd0ad12ca9aa",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_004cb",
                    table="members_room",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="room",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_roomevent" ("floor", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "site_id", "version") SELECT old_values."floor", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."site_id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="11a1bba9f0ecb894911a5230d459852d0a450d37",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_e34ca",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_room",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="site",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_siteevent" ("code", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."code", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="af9d00b855e56d8da5a2823d41bdec2e1db156cd",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_39804",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_site",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="site",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "members_siteevent" ("code", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."code", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."version"); RETURN NULL;',
                    hash="dc224e3554ded0a29c60da5f51319fdedc8b33ea",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c471b",
                    table="members_site",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="site",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_siteevent" ("code", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."code", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="dd56eaffaf9f5c27828889f62bfaf0048881fe49",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_98271",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_site",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tariff",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_tariffevent" ("down_kbit", "id", "most_devices", "most_forwards", "name", "offered", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "trial", "up_kbit", "version") SELECT new_values."down_kbit", new_values."id", new_values."most_devices", new_values."most_forwards", new_values."name", new_values."offered", _pgh_attached_context.value, NOW(), \'insert\', new_values."id", new_values."trial", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;',
                    hash="35d476b7619ab4e0c11e3af5e8b673c4ae18d45a",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_1a281",
                    referencing="REFERENCING NEW TABLE AS new_values ",
                    table="members_tariff",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tariff",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "members_tariffevent" ("down_kbit", "id", "most_devices", "most_forwards", "name", "offered", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "trial", "up_kbit", "version") VALUES (NEW."down_kbit", NEW."id", NEW."most_devices", NEW."most_forwards", NEW."name", NEW."offered", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."trial", NEW."up_kbit", NEW."version"); RETURN NULL;',
                    hash="5999a5fffbb2a430c93448d42ec603701d47f993",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_02c7e",
                    table="members_tariff",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tariff",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_tariffevent" ("down_kbit", "id", "most_devices", "most_forwards", "name", "offered", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "trial", "up_kbit", "version") SELECT old_values."down_kbit", old_values."id", old_values."most_devices", old_values."most_forwards", old_values."name", old_values."offered", _pgh_attached_context.value, NOW(), \'delete\', old_values."id", old_values."trial", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;',
                    hash="166cb7d6f449d5917d27b89f1a1a6db830043df0",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_69483",
                    referencing="REFERENCING OLD TABLE AS old_values ",
                    table="members_tariff",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="room",
            constraint=models.UniqueConstraint(
                models.F("site"), django.db.models.functions.text.Lower("name"), name="room_name_once_per_site"
            ),
        ),
        migrations.AddConstraint(
            model_name="room",
            constraint=models.CheckConstraint(condition=models.Q(("name__regex", "^\\S(.*\\S)?$")), name="room_name_trimmed"),
        ),
        migrations.AddConstraint(
            model_name="site",
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower("code"), name="site_code_once"),
        ),
        migrations.AddConstraint(
            model_name="site",
            constraint=models.CheckConstraint(condition=models.Q(("code__regex", "^\\w+$")), name="site_code_is_a_word"),
        ),
        migrations.AddConstraint(
            model_name="site",
            constraint=models.CheckConstraint(condition=models.Q(("name__regex", "^\\S(.*\\S)?$")), name="site_name_trimmed"),
        ),
        migrations.AddField(
            model_name="roomevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="roomevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="members.room"
            ),
        ),
        migrations.AddField(
            model_name="roomevent",
            name="site",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="members.site",
                verbose_name="site",
            ),
        ),
        migrations.AddField(
            model_name="siteevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="siteevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="members.site"
            ),
        ),
        migrations.AddField(
            model_name="tariffevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="pghistory.context"
            ),
        ),
        migrations.AddField(
            model_name="tariffevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="events", to="members.tariff"
            ),
        ),
    ]
