import django.db.models.functions.datetime
from django.db import migrations, models

# From now on each role is awaited; what never reports is missed, too.
AWAIT = "INSERT INTO operations_roleheartbeat (role) SELECT unnest(ARRAY['worker', 'collector', 'feeds', 'mailer', 'beat', 'events'])"


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="RoleHeartbeat",
            fields=[
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("worker", "deploy worker"),
                            ("collector", "collector"),
                            ("feeds", "feed importer"),
                            ("mailer", "mailer"),
                            ("beat", "scheduler"),
                            ("events", "live events"),
                        ],
                        max_length=16,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("expected", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("started", models.DateTimeField(null=True)),
                ("seen", models.DateTimeField(null=True)),
                ("served", models.DateTimeField(null=True)),
                ("broker_error", models.CharField(blank=True, db_default="", default="", max_length=300)),
                ("broker_failing", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["worker", "collector", "feeds", "mailer", "beat", "events"])),
                        name="roleheartbeat_of_a_role",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("broker_error", ""), ("broker_failing", None)),
                            models.Q(("broker_failing__isnull", False), models.Q(("broker_error", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="roleheartbeat_failing_says_why",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobRecord",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("period", models.FloatField(null=True)),
                ("expected", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("ran", models.DateTimeField(null=True)),
                ("succeeded", models.DateTimeField(null=True)),
                ("failing", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, db_default="", default="", max_length=500)),
                ("failures", models.PositiveIntegerField(db_default=0, default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("error", ""), ("failing", None)),
                            models.Q(("failing__isnull", False), models.Q(("error", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="jobrecord_failing_says_why",
                    )
                ],
            },
        ),
        migrations.RunSQL(AWAIT, "DELETE FROM operations_roleheartbeat"),
    ]
