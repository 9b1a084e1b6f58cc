from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inbound", "0001_arrivals"),
    ]

    operations = [
        migrations.CreateModel(
            name="Mailbox",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("place", models.CharField(max_length=700)),
                ("tried", models.DateTimeField()),
                ("succeeded", models.DateTimeField(null=True)),
                ("failing", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="inbound_one_mailbox"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("error", ""), ("failing", None)),
                            models.Q(("failing__isnull", False), models.Q(("error", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="inbound_failing_says_why",
                    ),
                ],
            },
        ),
    ]
