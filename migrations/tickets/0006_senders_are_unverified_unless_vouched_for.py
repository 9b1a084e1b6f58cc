from django.db import migrations


class Migration(migrations.Migration):
    """Until now a mail counted as its sender's by the address in From alone, which proves nothing."""

    dependencies = [
        ("tickets", "0005_words_of_a_thread"),
    ]

    operations = [
        migrations.RunSQL(
            "UPDATE tickets_message SET verified = false WHERE via = 'mail' AND kind = 'member' AND verified", migrations.RunSQL.noop
        ),
    ]
