"""Command line of the lab with virtual machines: `script/machines`."""

import subprocess
import sys
import time
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from lab.enter import enter, execute
from lab.lab import Lab
from lab.launch import LabError
from lab.machines.image import list_missing_programs
from lab.machines.placement import choose_accelerator, prepare_machine, replace_gateway_nodes, wait_until_up
from lab.machines.virtual_machine import EMULATED, MachineError, VirtualMachine
from lab.obstacles import list_obstacles
from lab.program import ROOT
from lab.register import LabRegisterEntry
from lab.topology import DEMO, parse_topology

STATE = ROOT / "var" / "machines"
NAME = "machines"


def build_parser() -> ArgumentParser:
    about = "Two virtual machines as gateways, Debian 12 and Debian 13, in a lab of network namespaces."
    root = ArgumentParser("script/machines", description=about)
    root.add_argument("--state", type=Path, default=STATE, metavar="DIR", help="directory of images and disks (default: var/machines)")
    each = root.add_subparsers(required=True, metavar="COMMAND")
    each.add_parser("check", help="say why no machines can run here, or how they would").set_defaults(act=check)
    each.add_parser("up", help="boot both, and keep them until Ctrl-C or “down”").set_defaults(act=bring_up)
    each.add_parser("down", help="end them, with the lab").set_defaults(act=take_down)
    ssh = each.add_parser("ssh", help="sign in to a machine as root, or run a command there", usage="%(prog)s nat-1|nat-2 [COMMAND …]")
    ssh.add_argument("machine", choices=("nat-1", "nat-2"))
    ssh.add_argument("command", nargs=REMAINDER)
    ssh.set_defaults(act=sign_in)
    return root


def check(options: Namespace) -> int:
    del options
    found = (*list_missing_programs(), *list_obstacles())
    for obstacle in found:
        print(f"No machines can run here: {obstacle}", file=sys.stderr)
    if not found:
        print("Machines can run here." if Path("/dev/kvm").exists() else "Machines can run here, emulated: there is no /dev/kvm.")
    return 1 if found else 0


def bring_up(options: Namespace) -> int:
    if check(options):
        return 1
    register = LabRegisterEntry(options.state, NAME)
    with register.lock():
        if register.find():
            print("The machines are already up.")
            return 0
        text = DEMO.read_text()
        lab = Lab.start(parse_topology(text))
        register.write(lab, text)
    try:
        _boot(lab, options.state)
        while lab.holder.is_alive:
            time.sleep(1)
    except KeyboardInterrupt:
        print()
    finally:
        lab.stop()
        register.clear()
    print("The machines are down.")
    return 0


def _boot(lab: Lab, state: Path) -> None:
    machines = _say("Images and disks", lambda: replace_gateway_nodes(lab, state))
    accelerator = _say("Hardware virtualisation", lambda: choose_accelerator(machines[0]))
    print("  emulated: KVM boots no machine here" if accelerator == EMULATED else "  KVM")
    for machine in machines:
        machine.accelerator = accelerator
        machine.switch_on()
    _say("Boot", lambda: wait_until_up(machines))
    for machine in machines:
        print(f"  {machine.name}: {_describe(machine)}; script/machines ssh {machine.name}")
    print("Ctrl-C ends them.", flush=True)


def _say[Value](step: str, act: Callable[[], Value]) -> Value:
    print(f"· {step} …", flush=True)
    started = time.monotonic()
    value = act()
    print(f"✓ {step} {time.monotonic() - started:.1f} s", flush=True)
    return value


def _describe(machine: VirtualMachine) -> str:
    return machine.run('. /etc/os-release; echo "$PRETTY_NAME, Linux $(uname -r)"').stdout.strip()


def take_down(options: Namespace) -> int:
    lab = LabRegisterEntry(options.state, NAME).find()
    if lab:
        lab.stop()
    print("The machines are down." if lab else "The machines were not up.")
    return 0


def sign_in(options: Namespace) -> int:
    """Run the command on the machine; this process ends with its exit status."""
    lab = LabRegisterEntry(options.state, NAME).find()
    if lab is None:
        raise MachineError("the machines are not up; start them with: script/machines up")
    command = prepare_machine(lab, options.machine, options.state).build_ssh_command(*options.command)
    enter(lab.holder, lambda: execute("portal", list(command)))


def main() -> int:
    options = build_parser().parse_args()
    try:
        status: int = options.act(options)
    except (LabError, MachineError, subprocess.CalledProcessError, OSError) as error:
        print(f"script/machines: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
