"""Claims of new mappings are written once per statement, not row by row: an import adds a hundred thousand mappings at once.

The member is looked up by a subquery, never joined: a plan that was cached for many rows would read all holdings for a single one.
"""

from django.db import migrations

STATEMENT = """
CREATE FUNCTION nat_claim_of_new_mappings() RETURNS trigger LANGUAGE plpgsql AS $claim$
BEGIN
    INSERT INTO nat_portclaim (mapping_id, member_id, public, ports, protocols, valid)
    SELECT n.id, (SELECT h.member_id FROM network_holding h WHERE h.id = n.holding_id), n.public,
        coalesce(n.block, int4range(0, 65536)), int4range(0, 256), n.valid
    FROM come n WHERE n.sharing <> 'shared';
    RETURN NULL;
END
$claim$;
DROP TRIGGER claim_insert ON nat_natmapping;
CREATE TRIGGER claim_insert AFTER INSERT ON nat_natmapping
    REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION nat_claim_of_new_mappings();
"""
ROW = """
DROP TRIGGER claim_insert ON nat_natmapping;
CREATE TRIGGER claim_insert AFTER INSERT ON nat_natmapping
    FOR EACH ROW WHEN (NEW.sharing <> 'shared') EXECUTE FUNCTION nat_claim_of_mapping();
DROP FUNCTION nat_claim_of_new_mappings;
"""


class Migration(migrations.Migration):
    dependencies = [("nat", "0002_room_of_a_done_move")]
    operations = [migrations.RunSQL(STATEMENT, ROW)]
