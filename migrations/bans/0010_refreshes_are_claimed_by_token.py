from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bans", "0009_hits_without_counters"),
    ]

    operations = [
        migrations.AddField(
            model_name="banfeed",
            name="claim",
            field=models.UUIDField(null=True),
        ),
    ]
