from django.db import migrations, models

TABLE = """
    CREATE TABLE {table} (
        holding_id bigint NOT NULL, bucket timestamptz NOT NULL,
        up_octets bigint NOT NULL CHECK (up_octets >= 0), up_packets bigint NOT NULL CHECK (up_packets >= 0),
        down_octets bigint NOT NULL CHECK (down_octets >= 0), down_packets bigint NOT NULL CHECK (down_packets >= 0),
        PRIMARY KEY (holding_id, bucket)
    ) PARTITION BY RANGE (bucket);
    CREATE INDEX {table}_by_time ON {table} USING brin (bucket) WITH (pages_per_range = 32)
"""
# Where days are there already, the next tick adds up all of them that are kept, and of today what is there
LEVELS = """
    INSERT INTO traffic_level (name, days, complete_until)
    SELECT new.name, coalesce(new.days, day.days), date_bin(new.unit, day.complete_until - new.back * day.days, '2000-01-01 00:00+00')
    FROM traffic_level day CROSS JOIN (VALUES
        ('today', 2, interval '1 day', interval '0'),
        ('week', NULL, interval '7 days', interval '1 day'),
        ('fourweeks', NULL, interval '28 days', interval '1 day')
    ) new (name, days, unit, back)
    WHERE day.name = 'day'
"""
NO_LEVELS = "DELETE FROM traffic_level WHERE name IN ('today', 'week', 'fourweeks')"


def _usage(name: str) -> migrations.SeparateDatabaseAndState:
    """A table of usage like those there are; partitions are made by the portal when they are needed."""
    columns = ("up_octets", "up_packets", "down_octets", "down_packets")
    key = models.CompositePrimaryKey("holding_id", "bucket", blank=True, editable=False, primary_key=True, serialize=False)
    fields = [("pk", key), ("holding_id", models.BigIntegerField()), ("bucket", models.DateTimeField())]
    table = f"traffic_{name.lower()}"
    return migrations.SeparateDatabaseAndState(
        state_operations=[
            migrations.CreateModel(
                name=name,
                fields=[*fields, *((column, models.BigIntegerField()) for column in columns)],
                options={"abstract": False},
            )
        ],
        database_operations=[migrations.RunSQL(TABLE.format(table=table), f"DROP TABLE {table}")],
    )


class Migration(migrations.Migration):
    dependencies = [("traffic", "0022_fair_share")]

    operations = [
        _usage("Today"),
        _usage("Week"),
        _usage("FourWeeks"),
        migrations.RemoveConstraint(model_name="level", name="level_kept_for_a_sensible_time"),
        migrations.AlterField(
            model_name="level",
            name="name",
            field=models.CharField(
                choices=[
                    ("fiveminutes", "Five Minutes"),
                    ("hour", "Hour"),
                    ("day", "Day"),
                    ("today", "Today"),
                    ("week", "Week"),
                    ("fourweeks", "Four Weeks"),
                ],
                max_length=11,
                primary_key=True,
                serialize=False,
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, NO_LEVELS),
        migrations.AddConstraint(
            model_name="level",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("days__range", (2, 60)), ("name", "fiveminutes")),
                    models.Q(("days__range", (7, 400)), ("name", "hour")),
                    models.Q(("days__range", (31, 3660)), ("name__in", ["day", "week", "fourweeks"])),
                    models.Q(("days", 2), ("name", "today")),
                    _connector="OR",
                ),
                name="level_kept_for_a_sensible_time",
            ),
        ),
        migrations.RunSQL(LEVELS, migrations.RunSQL.noop),
    ]
