import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import apps.lib.fields

# Finds what a person did: the middleware notes in each event's context who was signed in.
BY_PERSON = "CREATE INDEX audit_context_by_user ON pghistory_context ((metadata -> 'user'))"
NOT_BY_PERSON = "DROP INDEX audit_context_by_user"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Enquiry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked", models.DateTimeField(auto_now_add=True, verbose_name="requested")),
                ("address", apps.lib.fields.AddressField(verbose_name="address")),
                ("port", models.PositiveIntegerField(blank=True, null=True, verbose_name="port")),
                ("at", models.DateTimeField(verbose_name="when")),
                ("reason", models.CharField(max_length=200, verbose_name="reason")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="asked by"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="enquiry_has_a_reason"),
                    models.CheckConstraint(
                        condition=models.Q(("port", None), models.Q(("port__isnull", False), ("port__range", (1, 65535))), _connector="OR"),
                        name="enquiry_port",
                    ),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="enquiry",
            trigger=pgtrigger.compiler.Trigger(
                name="enquiry_stays",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="b82eb72f7009dcec74b5a8e91ac27b61525470dd",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_enquiry_stays_8bcca",
                    table="audit_enquiry",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunSQL(BY_PERSON, NOT_BY_PERSON),
    ]
