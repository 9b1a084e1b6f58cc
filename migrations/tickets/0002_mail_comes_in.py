from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tickets", "0001_threads_and_files"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="came_as",
            field=models.CharField(max_length=250, null=True, unique=True),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(condition=models.Q(("via", "mail")), fields=["sender", "at"], name="ticket_message_by_sender"),
        ),
    ]
