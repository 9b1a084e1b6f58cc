"""Connections that agree on others within what they say: the kernel reads along where the group says so, and nowhere else."""

from firewall.chains.rule_helpers import at, rule
from firewall.policy import Gateway
from firewall.ruleset import AssignHelper, Chain, Field, Helper, Hook, Match, Priority


def chain(gateway: Gateway) -> Chain | None:
    """After connection tracking, of members' new connections; none without ports."""
    protection = gateway.settings.protection
    ports = ((Helper.FTP, Field.TCP_DPORT, protection.ftp_ports), (Helper.SIP, Field.UDP_DPORT, protection.sip_ports))
    new = at(Field.IIFNAME, gateway.interfaces.lan), at(Field.CT_STATE, "new")
    rules = [rule(*new, Match(field, tuple(sorted(set(of)))), AssignHelper(helper)) for helper, field, of in ports if of]
    return Chain("helpers", tuple(rules), Hook("filter", "prerouting", Priority.FILTER)) if rules else None
