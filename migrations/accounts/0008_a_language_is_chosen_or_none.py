"""Who never chose a language, as "en" was everybody's before there was a choice, reads what the browser asks for."""

from django.db import migrations, models

LANGUAGE = {"blank": True, "choices": [("en", "English"), ("de", "Deutsch")], "default": "", "max_length": 2, "verbose_name": "language"}


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_scoped_tokens")]

    operations = [
        migrations.AlterField("user", "language", models.CharField(**LANGUAGE)),
        migrations.AlterField("userevent", "language", models.CharField(**LANGUAGE)),
        migrations.RunSQL(
            "UPDATE accounts_user SET language = '' WHERE language = 'en'",
            "UPDATE accounts_user SET language = 'en' WHERE language = ''",
        ),
    ]
