from django.db import migrations, models


class Migration(migrations.Migration):
    """A gateway that works for long says what it does, and how much of it is done."""

    dependencies = [("deployments", "0012_guarded_listeners")]
    operations = [
        migrations.AddField("rolloutstep", "doing", models.CharField(blank=True, max_length=20)),
        migrations.AddField("rolloutstep", "done", models.PositiveIntegerField(default=0)),
        migrations.AddField("rolloutstep", "of", models.PositiveIntegerField(default=0)),
        migrations.AddField("rolloutstep", "heard", models.DateTimeField(null=True)),
    ]
