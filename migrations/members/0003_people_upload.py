import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("members", "0002_history_of_places_and_tariffs"),
    ]

    operations = [
        migrations.CreateModel(
            name="PeopleUpload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("name", models.CharField(max_length=200)),
                ("content", models.BinaryField()),
                ("meanings", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None)),
                ("create_rooms", models.BooleanField(default=False)),
                ("report", models.JSONField(null=True)),
                (
                    "by",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
        ),
    ]
