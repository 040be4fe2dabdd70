"""Holds processes at a named place in their code until the test lets them go on: ringdealds and what
runs under the shim, started with `environment`."""
import os
import socket
import struct


class Failpoint:
    """Whoever passes goes on at once while it is not open, which it is at first."""

    def __init__(self, directory, *names):
        self._path = os.path.join(directory, f"{names[0]}.failpoint")
        self.environment = {"RINGDEAL_FAILPOINT_SOCKET": self._path,
                            "RINGDEAL_FAILPOINT_NAMES": ",".join(names)}
        self._socket = None
        self.open()

    def open(self):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self._path)
        self._socket.listen(64)
        self._socket.settimeout(10)

    def wait(self):
        """Waits until a thread arrives; the name, and a function that lets it go on."""
        name, _, release = self.wait_for_process()
        return name, release

    def wait_for_process(self):
        """The same, and between the two the pid of the process that arrived."""
        connection, _ = self._socket.accept()
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET,
                                                              socket.SO_PEERCRED, 12))
        name = connection.makefile().readline().strip()

        def release():
            with connection:
                try:
                    connection.send(b"g")
                except BrokenPipeError:
                    pass  # it was killed where it waited
        return name, pid, release

    def close(self):
        """Lets everybody pass from now on who does not wait in a `wait` of the test."""
        if self._socket is not None:
            self._socket.close()
            os.unlink(self._path)
            self._socket = None
