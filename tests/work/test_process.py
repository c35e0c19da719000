"""A supervised process ends with its channel, and costs its owner nothing when it cannot start."""

import os
import signal
import socket

import pytest

from chartpact.work.process import Process, start_python

READS = "import socket; socket.socket(fileno={}).recv(1)"


def start(channel: int):
    return start_python(channel, "-c", READS.format(channel))


def test_a_process_ends_when_its_channel_is_closed():
    process = Process(start)
    process.end(30)
    assert not process.alive
    assert process._process.returncode == 0


def test_a_process_that_does_not_end_is_killed():
    process = Process(start, socket.SOCK_SEQPACKET)
    os.kill(process.pid, signal.SIGSTOP)
    process.end(0.1)
    assert process._process.returncode == -signal.SIGKILL


def test_a_process_that_cannot_start_leaves_no_descriptor_open():
    before = os.listdir("/proc/self/fd")

    def fail(_: int):
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        Process(fail)
    assert os.listdir("/proc/self/fd") == before
