"""Addresses of accounts are stored in small letters, as sign-in and changes of addresses expect, and are found by an index.

Where that would make two confirmed addresses the same, or two of one account, these stay as they are.
"""

from django.db import migrations, models

import apps.lib.database.email_lookups

OF_ACCOUNTS = """
UPDATE accounts_user SET email = lower(email COLLATE "C") WHERE email <> lower(email COLLATE "C");
"""
CONFIRMED = """
UPDATE account_emailaddress AS here SET email = lower(here.email COLLATE "C")
WHERE here.email <> lower(here.email COLLATE "C") AND NOT EXISTS (
    SELECT FROM account_emailaddress AS other
    WHERE other.id <> here.id AND lower(other.email COLLATE "C") = lower(here.email COLLATE "C")
        AND (other.user_id = here.user_id OR (other.verified AND here.verified))
);
"""
STATEMENTS = (OF_ACCOUNTS, CONFIRMED)


class Migration(migrations.Migration):
    dependencies = [
        ("account", "0009_emailaddress_unique_primary_email"),
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="user",
            index=models.Index(apps.lib.database.email_lookups.AsciiLower("email"), name="user_by_address"),
        ),
        *(migrations.RunSQL(statement, migrations.RunSQL.noop) for statement in STATEMENTS),
    ]
