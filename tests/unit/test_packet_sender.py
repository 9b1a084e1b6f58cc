import ctypes
import os
import socket

from benchmarks.packets.sender import Train


def test_the_kernel_takes_a_whole_train_in_one_call_and_writes_nowhere_else() -> None:
    frames = [bytes([number]) * 60 for number in range(8)]
    train = Train(frames)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        sent = ctypes.CDLL(None, use_errno=True).sendmmsg(ours.fileno(), ctypes.byref(train.messages), len(train), 0)
        assert sent == len(frames), os.strerror(ctypes.get_errno())
        assert [theirs.recv(128) for _ in frames] == frames
    assert [message.sent for message in train.messages] == [60] * len(frames)
