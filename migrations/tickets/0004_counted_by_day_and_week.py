from django.conf import settings
from django.db import migrations, models

# pghistory makes the table of events, without an index by time.
BY_TIME = "CREATE INDEX ticket_event_by_time ON tickets_ticketevent (pgh_created_at)"
NOT_BY_TIME = "DROP INDEX ticket_event_by_time"


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0005_tariffs_count_devices"),
        ("tickets", "0003_merge_split_and_bulk"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Period",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(choices=[("day", "Day"), ("week", "Week")], max_length=4)),
                ("begins", models.DateField()),
                ("opened", models.PositiveIntegerField()),
                ("solved", models.PositiveIntegerField()),
                ("reopened", models.PositiveIntegerField()),
                ("answered", models.PositiveIntegerField()),
                ("median", models.FloatField(null=True)),
            ],
            options={
                "ordering": ["unit", "begins"],
            },
        ),
        migrations.RemoveIndex(model_name="ticket", name="ticket_by_opening"),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(fields=["opened_at"], include=["first_answered_at", "state"], name="ticket_opened_and_answered"),
        ),
        migrations.AddIndex(
            model_name="ticket",
            index=models.Index(
                condition=models.Q(("first_answered_at__isnull", False)), fields=["first_answered_at"], name="ticket_by_first_answer"
            ),
        ),
        migrations.AddConstraint(
            model_name="period",
            constraint=models.UniqueConstraint(fields=("unit", "begins"), name="ticket_period_once"),
        ),
        migrations.AddConstraint(
            model_name="period",
            constraint=models.CheckConstraint(
                condition=models.Q(("unit", "day"), models.Q(("begins__iso_week_day", 1), ("unit", "week")), _connector="OR"),
                name="ticket_period_unit",
            ),
        ),
        migrations.AddConstraint(
            model_name="period",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answered", 0), ("median", None)), models.Q(("answered__gt", 0), ("median__gte", 0)), _connector="OR"
                ),
                name="ticket_period_median",
            ),
        ),
        migrations.RunSQL(BY_TIME, NOT_BY_TIME),
    ]
