"""The messages between owner, zygote and children: short structs over sockets, with descriptors."""

import socket
import struct
from array import array
from collections.abc import Sequence

# A request: job, shared and answer bytes; processor ms, wall ms, memory KiB, layers.
REQUEST = struct.Struct("<QQQIIII")
STARTED = struct.Struct("<ci")  # b"S", pid (for logs: across a pid namespace it means nothing)
FAILED = struct.Struct("<ci")  # b"F", errno of the fork
EXITED = struct.Struct("<cidQQ")  # b"X", wait status, processor s, peak RSS KiB, page faults

# The exit codes of a child. A step of its hardening that fails ends it by a signal.
ANSWERED, UNANSWERED, OUT_OF_MEMORY, UNASKED = 0, 3, 4, 5

_MOST_DESCRIPTORS = 3


def send(channel: socket.socket, message: bytes, fds: Sequence[int] = ()) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))] if fds else []
    channel.sendmsg([message], rights)


def receive(channel: socket.socket, size: int = 64) -> tuple[bytes, list[int]]:
    """One message and the descriptors that came with it; b"" is the end."""
    # Not socket.recv_fds, which ignores its flags and so lets descriptors be inherited.
    fds = array("i")
    room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * fds.itemsize)
    message, rights, _, _ = channel.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in rights:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return message, list(fds)
