"""One supervised process, which its owner reaches over a socket."""

import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def start_python(channel: int, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """A new interpreter, which has the channel and neither input nor output."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[channel],
        **options,
    )


class Process:
    """A process and the owner's end of its channel.

    `start` gets the descriptor of the other end. The owner's end has no other copy, so a process
    whose owner is gone reads the end of its channel.
    """

    def __init__(
        self,
        start: Callable[[int], subprocess.Popen[bytes]],
        kind: socket.SocketKind = socket.SOCK_STREAM,
    ) -> None:
        self.channel, theirs = socket.socketpair(type=kind)
        try:
            with theirs:
                self._process = start(theirs.fileno())
        except BaseException:
            self.channel.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self, seconds: float) -> None:
        """Closes the channel, and kills a process that has not ended after so much time."""
        with suppress(OSError):  # the other side may have gone first
            self.channel.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits here
        self.channel.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.wait()
        self.channel.close()

    def forget(self) -> None:
        """In a fork of the owner: lets go of the process, which is the owner's."""
        self.channel.close()  # this copy only
        self._process.returncode = 0  # so that nobody waits for another process's child
