import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0002_history_of_places_and_tariffs"),
        ("nat", "0001_initial"),
        ("network", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="move",
            name="move_changes_something",
        ),
        migrations.AlterField(
            model_name="move",
            name="room",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="members.room",
                verbose_name="room",
            ),
        ),
        migrations.AddConstraint(
            model_name="move",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("room__isnull", False), ("pool__isnull", False), models.Q(("state", "planned"), _negated=True), _connector="OR"
                ),
                name="move_changes_something",
            ),
        ),
    ]
