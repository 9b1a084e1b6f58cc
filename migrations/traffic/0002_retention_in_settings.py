from django.db import migrations

# Retention that differs from the default moves to the settings of the network
MOVE_RETENTION = """
    INSERT INTO preferences_networksettings (id, version, keep_five_minutes_days, keep_hours_days, keep_days_days)
    SELECT 1, 1, nullif(max(days) FILTER (WHERE name = 'fiveminutes'), 7), nullif(max(days) FILTER (WHERE name = 'hour'), 90),
        nullif(max(days) FILTER (WHERE name = 'day'), 730)
    FROM traffic_level
    HAVING bool_or((name, days) NOT IN (('fiveminutes', 7), ('hour', 90), ('day', 730))) FILTER (WHERE name IN ('fiveminutes', 'hour', 'day'))
    ON CONFLICT (id) DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("preferences", "0001_settings_of_the_network"),
        ("traffic", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(MOVE_RETENTION, migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name="level", name="level_kept_for_a_sensible_time"),
        migrations.RemoveField(model_name="level", name="days"),
    ]
