"""Claims of new forwards are written once per statement, as those of new mappings are: a script adds a thousand forwards at once.

The member is looked up by a subquery, never joined: a plan that was cached for many rows would read all holdings for a single one.
"""

from django.db import migrations

STATEMENT = """
CREATE FUNCTION nat_claim_of_new_forwards() RETURNS trigger LANGUAGE plpgsql AS $claim$
BEGIN
    INSERT INTO nat_portclaim (forward_id, member_id, public, ports, protocols, valid)
    SELECT n.id, (SELECT h.member_id FROM network_holding h WHERE h.id = n.holding_id), n.public,
        int4range(n.public_port, n.public_port + n.ports),
        CASE n.protocol WHEN 'tcp' THEN int4range(6, 7) ELSE int4range(17, 18) END, n.valid
    FROM come n;
    RETURN NULL;
END
$claim$;
DROP TRIGGER claim ON nat_portforward;
CREATE TRIGGER claim_insert AFTER INSERT ON nat_portforward
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION nat_claim_of_new_forwards();
CREATE TRIGGER claim_delete AFTER DELETE ON nat_portforward
    FOR EACH ROW EXECUTE FUNCTION nat_claim_of_forward();
"""
ROW = """
DROP TRIGGER claim_insert ON nat_portforward;
DROP TRIGGER claim_delete ON nat_portforward;
CREATE TRIGGER claim AFTER INSERT OR DELETE ON nat_portforward
    FOR EACH ROW EXECUTE FUNCTION nat_claim_of_forward();
DROP FUNCTION nat_claim_of_new_forwards;
"""


class Migration(migrations.Migration):
    dependencies = [("nat", "0003_claims_of_many_mappings")]
    operations = [migrations.RunSQL(STATEMENT, ROW)]
