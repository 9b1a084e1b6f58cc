from django.db import migrations

# The page of a group's failover and the top bar wait for these: a family that is carried by another gateway, and each step of a switch.
TELL = """
CREATE FUNCTION gateways_carrierchange_tells() RETURNS trigger LANGUAGE plpgsql AS $tells$
BEGIN
    PERFORM events_tell('failover', NEW.group_id, CASE cardinality(NEW.carriers) WHEN 0 THEN 'nobody' WHEN 1 THEN 'carried' ELSE 'several' END,
        NULL, false);
    RETURN NULL;
END
$tells$;
CREATE TRIGGER tells_insert AFTER INSERT ON gateways_carrierchange FOR EACH ROW EXECUTE FUNCTION gateways_carrierchange_tells();
CREATE FUNCTION gateways_roleswitch_tells() RETURNS trigger LANGUAGE plpgsql AS $tells$
BEGIN
    PERFORM events_tell('failover', NEW.group_id, 'switch ' || NEW.state, NULL, false);
    RETURN NULL;
END
$tells$;
CREATE TRIGGER tells_insert AFTER INSERT ON gateways_roleswitch FOR EACH ROW EXECUTE FUNCTION gateways_roleswitch_tells();
CREATE TRIGGER tells_update AFTER UPDATE ON gateways_roleswitch FOR EACH ROW WHEN (NEW.state <> OLD.state)
    EXECUTE FUNCTION gateways_roleswitch_tells();
"""
NO_TELL = """
DROP FUNCTION gateways_carrierchange_tells CASCADE;
DROP FUNCTION gateways_roleswitch_tells CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("gateways", "0002_roles"), ("events", "0001_initial")]
    operations = [migrations.RunSQL(TELL, NO_TELL)]
