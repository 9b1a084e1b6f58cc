"""Moves this process into the network namespace of a node. The names exist only inside the holder's mount namespace."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = "/run/netns"


def move_process_into_node(node: str) -> None:
    """Move this process into the node's namespace. Raise `LookupError` if no node has this name."""
    try:
        descriptor = os.open(f"{NAMES}/{node}", os.O_RDONLY)
    except FileNotFoundError as error:
        raise LookupError(f"unknown node {node} in this lab") from error
    os.setns(descriptor, os.CLONE_NEWNET)
    os.close(descriptor)


@contextmanager
def enter_namespace(node: str) -> Iterator[None]:
    """Enter the node's namespace for the block. Sockets made and programs started in it stay in the node's namespace."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    move_process_into_node(node)
    try:
        yield
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(home)
