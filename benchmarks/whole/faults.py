"""Faults of the stack: each is over when its method returns, and the broken part has been started again."""

import time
from collections.abc import Callable
from random import Random
from signal import SIGQUIT

from redis import Redis

from benchmarks.whole.changes import ChangeStream
from benchmarks.whole.stack import Stack, say
from portal.stack import commands

LONGEST_CUT = 15.0  # seconds


class Faults:
    """Faults by name. `rebuilt` counts for each gateway how often its connections were lost with its kernel's state."""

    def __init__(self, stack: Stack, random: Random, changes: ChangeStream) -> None:
        self._stack, self._random, self.changes = stack, random, changes
        self.rebuilt = dict.fromkeys(commands.GATEWAYS, 0)
        self.kinds: dict[str, Callable[[], None]] = {
            "worker": self.kill_worker,
            "agent": self.kill_agent,
            "empty": self.empty,
            "broker": self.kill_broker,
            "database": self.kill_database,
            "cut": self.cut,
            "rebuild": self.rebuild,
            "flush": self.flush,
            "meddle": self.meddle,
        }

    def kill_worker(self) -> None:
        """Kill the worker with its ssh sessions, and start another one."""
        self._stack.worker.kill()
        self._stack.start_worker()

    def kill_agent(self) -> None:
        """Kill an agent, and start it again as systemd does."""
        name = self._choose_gateway()
        self._stack.agents[name].kill()
        self._stack.start_agent(name)

    def empty(self) -> None:
        """Delete everything in the broker."""
        with Redis(unix_socket_path=str(self._stack.places.redis_socket)) as client:
            client.flushall()

    def kill_broker(self) -> None:
        """Kill the broker, and start it again some seconds later."""
        self._stack.redis.kill()
        time.sleep(self._random.uniform(0, 5))
        self._stack.redis.start()

    def kill_database(self) -> None:
        """Shut the database down in immediate mode (pg_ctl(1)): it drops all connections, and recovers at its start."""
        self._stack.postgres.kill(number=SIGQUIT)
        self._stack.postgres.start()

    def cut(self) -> None:
        """Cut a gateway's management cable right after a commit in the database, for some seconds."""
        port = f"{self._choose_gateway()}.mgmt0"
        self.changes.make_single()
        self._stack.lab.run("core", ["ip", "link", "set", port, "down"])
        time.sleep(self._random.uniform(1, LONGEST_CUT))
        self._stack.lab.run("core", ["ip", "link", "set", port, "up"])

    def rebuild(self) -> None:
        """Rebuild a gateway as after a power failure: namespace, connections, agent and sshd end; it boots from its disk."""
        name = self._choose_gateway()
        for part in (self._stack.agents[name], self._stack.sshds[name]):
            part.kill()
        self.rebuilt[name] += 1
        self._stack.lab.rebuild(name)
        self._stack.start_agent(name)
        self._stack.sshds[name].start()

    def flush(self) -> None:
        """Flush all rules, as an administrator might by hand."""
        self._stack.lab.run(self._choose_gateway(), ["nft", "flush", "ruleset"])

    def meddle(self) -> None:
        """Add a ban by hand in the kernel, and delete one that is in the database, if there is one."""
        name = self._choose_gateway()
        self._change_element(name, "add", f"192.88.99.{self._random.randrange(256)}")
        if banned := self.changes.list_banned():
            self._change_element(name, "delete", self._random.choice(banned))

    def _change_element(self, name: str, verb: str, address: str) -> None:
        """Change an element; it may exist already, or be missing."""
        self._stack.lab.run(name, ["nft", f"{verb} element inet netzwart bans4_32 {{ {address} }}"], check=False)

    def _choose_gateway(self) -> str:
        name = self._random.choice(commands.GATEWAYS)
        say(f"    {name}")
        return name
