"""Holds a ringdeald at a named place in its code until the test lets it go on."""
import os
import socket


class Failpoint:
    def __init__(self, directory, *names):
        path = os.path.join(directory, "failpoint.sock")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen(64)
        self._socket.settimeout(10)
        self.environment = {"RINGDEAL_FAILPOINT_SOCKET": path,
                            "RINGDEAL_FAILPOINT_NAMES": ",".join(names)}

    def wait(self):
        """Waits until a thread arrives; the name, and a function that lets it go on."""
        connection, _ = self._socket.accept()
        name = connection.makefile().readline().strip()

        def release():
            with connection:
                connection.send(b"g")
        return name, release

    def close(self):
        """Lets everybody pass from now on."""
        self._socket.close()
