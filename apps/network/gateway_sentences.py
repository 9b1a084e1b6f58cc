"""Sentences about gateways that are stored: what probes have shown, how gateways were reached, why rollouts ended, what agents said."""

from typing import Final

from django.utils.translation import gettext_noop

from apps.lib.ui.stored_sentences import StoredSentence, translate_stored


class ProbeSentence(StoredSentence):
    """What a probe has shown."""

    NO_TARGET = gettext_noop("IPv%(family)s: not probed, %(group)s has no target for it.")
    NO_PROBE = gettext_noop("IPv%(family)s: not probed, %(gateway)s has no probe for it.")
    CANNOT_PROBE = gettext_noop("IPv%(family)s: %(gateway)s cannot probe: %(why)s")
    ANSWERED = gettext_noop("IPv%(family)s: %(address)s port %(port)s answered through %(gateway)s in %(ms)s ms.")
    NOT_REACHED = gettext_noop("IPv%(family)s: %(address)s port %(port)s cannot be reached through %(gateway)s: %(why)s")
    ECHOES_ONLY = gettext_noop("IPv%(family)s: %(address)s answers echoes through %(gateway)s, but not port %(port)s: %(why)s")
    RESPONDER = gettext_noop("IPv%(family)s: the responder at %(address)s port %(port)s: %(why)s")
    NOT_INWARD = gettext_noop("IPv%(family)s: %(address)s cannot connect to %(public)s port %(port)s through %(gateway)s: %(why)s")
    INWARD = gettext_noop("IPv%(family)s: %(address)s connected to %(public)s port %(port)s through %(gateway)s in %(ms)s ms.")


class LossSentence(StoredSentence):
    """Why a probe has shown that, as far as the gateway's counters tell."""

    NO_COUNTERS = gettext_noop("its ruleset has no probe counters for this family yet; deploy.")
    OTHER_PATH = gettext_noop(
        "the target answered, but on another path: not all packets were counted here. Where does the probe's default route lead?"
    )
    NO_NAT = gettext_noop("Source NAT is missing (packets with a private source that were held back: %(leaked)s).")
    REFUSED = gettext_noop("Packets out: %(up)s, back: %(down)s, so the target refuses: choose one that listens on this port.")
    BY_ROUTER = gettext_noop("Packets out: %(up)s, back: %(down)s: a router on the way says so.")
    NONE_BACK = gettext_noop("Packets out: %(up)s, back: none. Is %(back)s routed to %(gateway)s, and does the target answer others?")
    NOT_FORWARDED = gettext_noop("No packet of the probe was forwarded: check the forward chain and the probe's route.")
    STOPPED = gettext_noop(
        "No packet of the probe was forwarded (counted meanwhile: %(counters)s): check the forward chain and the probe's route."
    )


class StepSentence(StoredSentence):
    """Why a rollout, or a gateway's part of it, ended as it did."""

    NOT_REACHED = gettext_noop("It could not be reached after the change.")
    GOES_BACK = gettext_noop("It does not answer, and goes back by itself: %(error)s")
    WENT_BACK = gettext_noop("%(why)s It went back: %(text)s.")
    NOT_IN_TIME = gettext_noop("It was not confirmed in time, so it went back by itself.")
    SILENT = gettext_noop("It stopped answering during the change. Unless it has already confirmed, it goes back by itself.")
    STOPPED = gettext_noop("The rollout was stopped.")
    STOPPED_MEANWHILE = gettext_noop(
        "The rollout was stopped while the gateway was working. If it still commits the change, it takes it back by itself."
    )
    OLD_TOKEN = gettext_noop(
        "%(error)s. If the database was restored from a backup, “Try again” continues from the current state of the gateways."
    )
    FOREIGN_TOKEN = gettext_noop(
        "%(error)s. The gateway’s token is higher than it can be, so the portal does not adopt it: set this gateway up again."
    )
    WORKER_FAILED = gettext_noop("The worker failed: %(error)s")
    NOT_DEPLOYABLE = gettext_noop("What the gateways should run cannot be deployed any more: %(error)s")
    NEWER_STATE = gettext_noop("The desired state has changed since; what was missing goes out with the next rollout.")
    FLOWS_STAY = gettext_noop("Open connections that the change concerns could not be ended.")


class ReachSentence(StoredSentence):
    """Why the portal did not reach a gateway."""

    NO_ANSWER = gettext_noop("no answer to a new connection within %(seconds)s s")
    FAILED = gettext_noop("a new connection failed: %(why)s")
    CLOSED = gettext_noop("the connection was closed")
    NO_SSHD = gettext_noop("the program that answers at port %(port)s is not sshd")
    NO_PORT = gettext_noop("sshd answers at none of the ports %(ports)s; at port %(port)s: %(why)s")


class AgentSentence(StoredSentence):
    """What agents say, and the kernels below them. They are written in `gateway`, and here to be recognised."""

    TARGET_SILENT = gettext_noop("no answer within %(ms)s ms")
    TARGET_REFUSES = gettext_noop("refused")
    RESPONDER_SILENT = gettext_noop("it does not answer")
    HANGS_UP = gettext_noop("it hangs up without an answer")
    OTHER_PROGRAM = gettext_noop("another program took the connection")
    NO_PROBER = gettext_noop("this gateway has no prober: its agent was started without --prober")
    PROBER_SILENT = gettext_noop("the prober at %(path)s gave no answer: %(why)s. Is it running (netzwart-prober.service)?")
    CANNOT_LISTEN = gettext_noop("the prober cannot listen: %(why)s")
    DISK_KEEPS_NOTHING = gettext_noop("%(error)s; nothing was confirmed. Make room on the disk, or make it writable")
    DISK = gettext_noop("%(path)s cannot be written: %(why)s")
    DAMAGED_FILE = gettext_noop("%(path)s: the last confirmed ruleset does not match its digest; deploy from the portal")
    UNREADABLE_FILE = gettext_noop("%(path)s: the last confirmed ruleset cannot be read (%(what)s); deploy from the portal")
    NO_QUEUE = gettext_noop("there is no interface %(interface)s whose queue could be set")
    NO_MODULE = gettext_noop("the kernel has no %(what)s (%(where)s): boot one that has it, or switch the fair queues off")
    OTHER_QUEUE = gettext_noop("%(what)s: the kernel has “%(found)s” instead of “%(wanted)s”")


class SystemSentence(StoredSentence):
    """Errors of Linux, as strerror(3) names them."""

    NO_SPACE = gettext_noop("No space left on device")
    READ_ONLY = gettext_noop("Read-only file system")
    NOT_PERMITTED = gettext_noop("Permission denied")
    NO_FILE = gettext_noop("No such file or directory")
    REFUSED = gettext_noop("Connection refused")
    TIMED_OUT = gettext_noop("Connection timed out")
    NO_ROUTE = gettext_noop("No route to host")
    NO_NETWORK = gettext_noop("Network is unreachable")


_ALL: Final = (*ProbeSentence, *LossSentence, *StepSentence, *ReachSentence, *AgentSentence, *SystemSentence)


def translate_about_gateway(text: str) -> str:
    """Return a stored text about a gateway in the active language."""
    return translate_stored(text, _ALL)


def translate_rollout_error(text: str) -> str:
    """Return why a rollout failed in the active language: a line for each gateway, after its name, or a sentence about all."""
    return "\n".join(map(_translate_line, text.splitlines()))


def _translate_line(line: str) -> str:
    gateway, colon, error = line.partition(": ")
    whole = translate_about_gateway(line)
    return whole if whole != line else f"{gateway}{colon}{translate_about_gateway(error)}"
