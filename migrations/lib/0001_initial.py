import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.contrib.postgres.operations import BtreeGistExtension, TrigramExtension
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        BtreeGistExtension(),
        TrigramExtension(),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=100)),
                ("request", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("etag", models.CharField(blank=True, max_length=80)),
                ("body", models.BinaryField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "id"], name="keptanswer_by_user"),
                    models.Index(fields=["at"], name="keptanswer_by_time"),
                ],
                "constraints": [models.UniqueConstraint(fields=("user", "key"), name="keptanswer_one_for_a_key")],
            },
        ),
    ]
