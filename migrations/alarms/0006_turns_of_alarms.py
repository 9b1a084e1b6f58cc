import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("alarms", "0005_announced_to_webhooks"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="channelmessage",
            name="channelmessage_once",
        ),
        migrations.AddField(
            model_name="alarm",
            name="owes_end",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="alarm",
            name="turn",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="alarm",
            name="waits_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="alarm",
            name="worsened",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="alarm",
            name="worsenings",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), blank=True, default=list, size=None),
        ),
        migrations.AddField(
            model_name="channelmessage",
            name="turn",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name="alarm",
            index=models.Index(condition=models.Q(("owes_end", True)), fields=["id"], name="alarm_owes_end"),
        ),
        migrations.AddConstraint(
            model_name="alarm",
            constraint=models.CheckConstraint(
                condition=models.Q(("owes_end", False), ("ended__isnull", False), _connector="OR"), name="alarm_owes_its_end_once_over"
            ),
        ),
        migrations.AddConstraint(
            model_name="channelmessage",
            constraint=models.UniqueConstraint(fields=("channel", "alarm", "event", "severity", "turn"), name="channelmessage_once"),
        ),
        migrations.RunSQL("UPDATE alarms_alarm SET waits_since = announced WHERE ended IS NULL", migrations.RunSQL.noop),
        migrations.RunSQL(
            """
            DELETE FROM alarms_channelmessage
            WHERE state = 'waiting' AND channel_id IN (SELECT id FROM alarms_alarmchannel WHERE NOT active)
            """,
            migrations.RunSQL.noop,
        ),
    ]
