from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0003_people_upload"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="peopleupload",
            name="by_worker",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="claim",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="claimed_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="done",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=10),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="lines",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="of",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="problem",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="state",
            field=models.CharField(
                choices=[
                    ("open", "uploaded"),
                    ("waiting", "waits for a worker"),
                    ("running", "running"),
                    ("checked", "checked"),
                    ("imported", "imported"),
                    ("cancelled", "cancelled"),
                    ("failed", "failed"),
                ],
                db_default="open",
                default="open",
                max_length=9,
            ),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="task",
            field=models.CharField(choices=[("check", "check"), ("import", "import")], db_default="check", default="check", max_length=6),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="tries",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL("UPDATE members_peopleupload SET state = 'imported' WHERE report IS NOT NULL", migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="peopleupload",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "waiting", "running", "checked", "imported", "cancelled", "failed"])),
                name="peopleupload_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="peopleupload",
            constraint=models.CheckConstraint(condition=models.Q(("task__in", ["check", "import"])), name="peopleupload_task"),
        ),
        migrations.AddConstraint(
            model_name="peopleupload",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("claim__isnull", False), ("claimed_until__isnull", False), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("claim", None), ("claimed_until", None)),
                    _connector="OR",
                ),
                name="peopleupload_claimed_while_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="peopleupload",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["checked", "imported"]), _negated=True), ("report__isnull", False), _connector="OR"
                ),
                name="peopleupload_has_a_report",
            ),
        ),
    ]
