from django.db import migrations, models


class Migration(migrations.Migration):
    """The first revision of a group after a moment is found by an index: the history names it beside each change."""

    dependencies = [("deployments", "0015_who_asked_and_what_adds_up")]

    operations = [
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(fields=["group", "created"], name="revision_by_time"),
        ),
    ]
