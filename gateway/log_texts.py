"""Texts for the log: requests and their replies. One line each, no personal data."""

from firewall import wire
from firewall.agent_programs import DropProgram, KeepProgram, ProgramIs, StoreProgram, TryProgram
from firewall.conntrack_timeouts import TimeoutsAre
from firewall.evidence import EvidenceCollected
from firewall.file_trial import FileTrialIs, InstallFiles, KeepFiles, RevertFiles
from firewall.health import ReadHealth
from firewall.probe_messages import Probe, Probed, ReadProbes
from firewall.roles import Drain, RolesAre
from firewall.running_elements import ElementsAre
from firewall.wire import Message

_MOST = 300


def describe(request: wire.Request) -> str:
    """Return the operation, and its token if it has one."""
    match request:
        case wire.Apply(token=token, ruleset=None):
            return f"apply token {token}"
        case wire.Apply(token=token):
            return f"apply whole token {token}"
        case wire.Confirm(token=token):
            return f"confirm token {token}"
        case wire.Revert(token=token):
            return f"revert token {token}"
        case Probe(targets=targets):
            return f"probe of {len(targets)} targets"
        case ReadProbes(targets=targets):
            return f"standing probes of {len(targets)} targets"
        case Drain(families=families, drained=drained):
            return f"{'drain' if drained else 'resume'} {' '.join(f'IPv{each}' for each in families)}"
        case InstallFiles(digest=digest):
            return f"install failover files {to_plain_line(digest)}"
        case KeepFiles(digest=digest):
            return f"keep failover files {to_plain_line(digest)}"
        case RevertFiles():
            return "put the failover files before back"
        case StoreProgram(token=token, digest=digest):
            return f"store program {to_plain_line(digest[:12])} token {token}"
        case TryProgram(token=token, digest=digest, within=within):
            return f"try program {to_plain_line(digest[:12])} for {within} s token {token}"
        case KeepProgram(token=token, digest=digest):
            return f"keep program {to_plain_line(digest[:12])} token {token}"
        case DropProgram(token=token):
            return f"drop the program on trial, token {token}"
    return type(request).__name__.lower()


def is_routine(request: wire.Request | None, reply: Message) -> bool:
    """True for what the portal asks every few seconds, if it was answered: a journal of these would hide the rest."""
    return isinstance(request, ReadProbes | ReadHealth) and not isinstance(reply, wire.Refused)


def describe_outcome(reply: Message) -> str:
    """Return the outcome of a request."""
    match reply:
        case wire.Refused(reason, text):
            return f"refused ({reason}): {to_plain_line(text)}"
        case wire.Applied():
            return (
                f"{reply.elements} elements and {reply.chains} chains changed, commit {reply.commit_ms} ms,"
                f" read back {reply.read_back_ms} ms, {describe_cut_flows(reply.flows_cut)}, digest {reply.digest[:12]}"
            )
        case wire.Confirmed(digest, flows_cut):
            return f"{describe_cut_flows(flows_cut)}, digest {digest[:12]}"
        case wire.Reverted(digest, text):
            return f"{to_plain_line(text)}, digest {digest[:12]}"
        case wire.Drifted(rules=rules, elements=elements, sysctls=sysctls):
            differing = sum(each.missing_count + each.foreign_count for each in elements.values())
            named = f"{len(rules)} chains, sets and counters, {differing} elements and {len(sysctls)} kernel settings"
            return f"{named} are not as they were committed"
        case wire.DigestIs(digest, rules_as_committed):
            return f"digest {digest[:12]}{'' if rules_as_committed else ', rules changed by another program'}"
        case wire.Planned(added=added, removed=removed, chains=chains, settings=settings):
            moved = f"would add {sum(added.values())}, remove {sum(removed.values())} elements"
            return f"{moved}, rewrite {len(chains)} chains, change {settings} settings"
        case wire.Reading(sequence=sequence, sets=sets):
            return f"reading {sequence} of {sum(counts.elements for counts in sets.values())} elements"
        case wire.GaugesAre(sets=sets):
            return ", ".join(f"{name} {held} of {size}" for name, (held, size) in sets.items()) or "nothing is limited"
        case Probed(answers=answers):
            return ", ".join(each.error or f"connected in {each.microseconds} µs" for each in answers)
        case RolesAre(families=families):
            return ", ".join(f"IPv{each.family} {each.role}{' carries' if each.carries else ''}" for each in families)
        case EvidenceCollected(parts=parts):
            missing = [each.kind for each in parts if not each.size]
            return f"{sum(len(each.deflated) for each in parts)} octets of evidence, without {', '.join(missing) or 'gaps'}"
        case ElementsAre(elements=elements, more=more):
            return f"{sum(map(len, elements.values()))} elements of {len(elements)} sets{', more to come' if more else ''}"
        case TimeoutsAre(connections=connections, is_whole=is_whole):
            return f"remaining times of {connections} connections{'' if is_whole else ', not of all'}"
        case FileTrialIs(phase=phase, problem=problem):
            return f"failover files: {phase} {to_plain_line(problem)}".rstrip()
        case ProgramIs(runs=runs, trial=trial, problem=problem):
            return to_plain_line(f"runs program {runs[:12] or 'unknown'}{f', trial of {trial[:12]}' if trial else ''} {problem}").rstrip()
    return "done"


def describe_cut_flows(flows: int) -> str:
    """Return how many connections were ended."""
    return "flows could not be cut" if flows < 0 else f"{flows} flows cut"


def to_plain_line(text: str) -> str:
    """Return the text as one line of printable characters, cut to a limit: it may come from outside."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text[: 2 * _MOST]).split())
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"
