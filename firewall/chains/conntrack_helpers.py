"""The chain for protocols that negotiate further connections: the kernel reads them where the group says so, and nowhere else."""

from firewall.chains.rule_helpers import make_rule, match_field
from firewall.policy import GatewaySpec
from firewall.ruleset import AssignHelper, Chain, Field, Helper, Hook, HookPriority, Match


def build_chain(gateway: GatewaySpec) -> Chain | None:
    """Return the chain, which comes after connection tracking, for members' new connections; None without ports."""
    protection = gateway.settings.protection
    ports = ((Helper.FTP, Field.TCP_DPORT, protection.ftp_ports), (Helper.SIP, Field.UDP_DPORT, protection.sip_ports))
    new = match_field(Field.IIFNAME, gateway.interfaces.lan), match_field(Field.CT_STATE, "new")
    rules = [make_rule(*new, Match(field, tuple(sorted(set(of)))), AssignHelper(helper)) for helper, field, of in ports if of]
    return Chain("helpers", tuple(rules), Hook("filter", "prerouting", HookPriority.FILTER)) if rules else None
