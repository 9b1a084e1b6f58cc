"""Classic BPF programs for filters of traffic control: all packets, and one host of CAKE for each member's IPv6 prefix.

CAKE takes the number of a packet's host from the upper half of the class that a filter returns (tc-cake(8), “host override”), and a
filter of kind bpf returns a class (cls_bpf.c). Otherwise it hashes whole addresses: a member with many would get a share for each.
Instructions: linux/filter.h.
"""

from struct import Struct
from typing import Final, TypeAlias

from firewall.shaper import HOSTS, Isolation

_INSTRUCTION: Final = Struct("=HBBI")
Program: TypeAlias = tuple[tuple[int, int, int, int], ...]  # code, jump if true, jump if false, value

_LOAD_HALF, _LOAD_WORD = 0x28, 0x20  # BPF_LD with BPF_ABS
_JUMP_IF_EQUAL = 0x15
_RETURN, _RETURN_A = 0x06, 0x16
_TO_X, _XOR_X, _OR_X = 0x07, 0xAC, 0x4C
_AND, _ADD, _LEFT, _RIGHT = 0x54, 0x04, 0x64, 0x74
_STORE, _LOAD = 0x02, 0x60
_PROTOCOL = 0xFFFF_F000  # SKF_AD_OFF + SKF_AD_PROTOCOL
_NETWORK_HEADER = 0xFFF0_0000  # SKF_NET_OFF
_IPV6 = 0x86DD
_SOURCE, _DESTINATION = 8, 24  # in the header of IPv6
_WORD = 32
_HOST_BITS = HOSTS.bit_length() - 1

ALL_PACKETS: Final[Program] = ((_RETURN, 0, 0, 0xFFFF_FFFF),)


def pack_program(program: Program) -> bytes:
    """Return the program's instructions as the kernel takes them."""
    return b"".join(_INSTRUCTION.pack(*each) for each in program)


def build_host_program(isolation: Isolation, length: int) -> Program:
    """Return the program that numbers the hosts of IPv6 by the first `length` bits of their address, and leaves all others to CAKE.

    The number is the prefix's last bits, with those before them folded in: up to 1,024 prefixes in a row have a number each.
    """
    first = _NETWORK_HEADER + (_SOURCE if isolation is Isolation.SOURCES else _DESTINATION)
    body = (
        *_build_last_bits(first, length),
        *_build_fold(2 * _HOST_BITS),
        *_build_fold(_HOST_BITS),
        (_AND, 0, 0, HOSTS - 1),
        (_ADD, 0, 0, 1),
        (_LEFT, 0, 0, 16),
        (_RETURN_A, 0, 0, 0),
    )
    return ((_LOAD_HALF, 0, 0, _PROTOCOL), (_JUMP_IF_EQUAL, 0, len(body), _IPV6), *body, (_RETURN, 0, 0, 0))


def _build_last_bits(first: int, length: int) -> Program:
    """Load the last 32 bits of the prefix, or all if it is shorter, and fold in the whole words before these."""
    word, kept = divmod(length - 1, _WORD)
    spare = _WORD - 1 - kept
    steps = [(_LOAD_WORD, 0, 0, first + 4 * word), (_RIGHT, 0, 0, spare)]
    if spare and word:
        steps += [(_STORE, 0, 0, 0), (_LOAD_WORD, 0, 0, first + 4 * (word - 1)), (_LEFT, 0, 0, _WORD - spare)]
        steps += [(_TO_X, 0, 0, 0), (_LOAD, 0, 0, 0), (_OR_X, 0, 0, 0)]
    for before in range(word):
        steps += [(_TO_X, 0, 0, 0), (_LOAD_WORD, 0, 0, first + 4 * before), (_XOR_X, 0, 0, 0)]
    return tuple(steps)


def _build_fold(bits: int) -> Program:
    """Fold the number's upper bits into its lower ones."""
    return ((_TO_X, 0, 0, 0), (_RIGHT, 0, 0, bits), (_XOR_X, 0, 0, 0))
