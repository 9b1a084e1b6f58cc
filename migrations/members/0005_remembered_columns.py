import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0004_uploads_in_workers"),
    ]

    operations = [
        migrations.CreateModel(
            name="RememberedColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64, unique=True)),
                ("meanings", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20))),
                ("chosen", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="as_last_time",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="peopleupload",
            name="header_key",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
    ]
