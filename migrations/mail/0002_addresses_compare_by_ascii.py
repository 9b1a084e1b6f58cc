from django.db import migrations, models

from apps.lib.database.email_lookups import AsciiLower


class Migration(migrations.Migration):
    """Unicode's small letters take the Kelvin sign for a k: an address is another one then."""

    dependencies = [
        ("mail", "0001_outbox"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="message", name="mail_by_address"),
        migrations.AddIndex(model_name="message", index=models.Index(AsciiLower("to"), name="mail_by_address")),
        migrations.RemoveConstraint(model_name="switchedoff", name="mail_switched_off_once"),
        migrations.AddConstraint(
            model_name="switchedoff",
            constraint=models.UniqueConstraint(AsciiLower("address"), models.F("notice"), name="mail_switched_off_once"),
        ),
    ]
