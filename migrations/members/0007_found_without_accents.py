"""The index of members' names holds them without accents.

PostgreSQL calls unaccent only stable, because its rules are a file. They change at most with a major version, and then an index finds
what it found before. In PL/pgSQL, because an SQL function of this kind cannot be inlined and takes longer for each row.
"""

import django.contrib.postgres.indexes
import django.db.models
from django.contrib.postgres.operations import UnaccentExtension
from django.db import migrations

FUNCTION = """
CREATE FUNCTION without_accents(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN lower(public.unaccent('public.unaccent'::regdictionary, value));
END
$$;
"""
NO_FUNCTION = "DROP FUNCTION without_accents(text);"


class Migration(migrations.Migration):
    dependencies = [("members", "0006_accounts_by_invitation")]

    operations = [
        UnaccentExtension(),
        migrations.RunSQL(FUNCTION, NO_FUNCTION),
        migrations.RemoveIndex(model_name="member", name="member_name_search"),
        migrations.AddIndex(
            model_name="member",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.Func("name", function="without_accents", output_field=django.db.models.TextField()), "gin_trgm_ops"
                ),
                name="member_name_search",
            ),
        ),
    ]
