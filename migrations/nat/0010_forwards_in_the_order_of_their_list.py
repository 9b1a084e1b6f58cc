"""Whoever lists forwards finds them in order; and a forward's claim is written anew only when it says something else."""

from django.db import migrations, models

CLAIM = """
DROP TRIGGER claim ON nat_portforward;
CREATE TRIGGER claim AFTER INSERT OR DELETE ON nat_portforward
    FOR EACH ROW EXECUTE FUNCTION nat_claim_of_forward();
CREATE TRIGGER claim_changed AFTER UPDATE ON nat_portforward
    FOR EACH ROW WHEN ((OLD.id, OLD.holding_id, OLD.public, OLD.public_port, OLD.ports, OLD.protocol, OLD.valid)
        IS DISTINCT FROM (NEW.id, NEW.holding_id, NEW.public, NEW.public_port, NEW.ports, NEW.protocol, NEW.valid))
    EXECUTE FUNCTION nat_claim_of_forward();
"""
BACK = """
DROP TRIGGER claim_changed ON nat_portforward;
DROP TRIGGER claim ON nat_portforward;
CREATE TRIGGER claim AFTER INSERT OR UPDATE OR DELETE ON nat_portforward
    FOR EACH ROW EXECUTE FUNCTION nat_claim_of_forward();
"""


class Migration(migrations.Migration):
    dependencies = [("nat", "0009_words_for_sharing")]

    operations = [
        migrations.AddIndex(
            model_name="portforward",
            index=models.Index(fields=["public", "protocol", "public_port", "id"], name="portforward_in_order"),
        ),
        migrations.RunSQL(CLAIM, BACK),
    ]
