"""A FastCGI client as far as the checks need one: requests without a body."""
import struct

BEGIN, END, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6
HEADER = struct.Struct(">BBHHBx")  # version, type, request id, length, padding
RESPONDER = 1


def record(kind, content=b""):
    return HEADER.pack(1, kind, 1, len(content), 0) + content


def pair(name, value):
    return bytes([len(name), len(value)]) + name + value


class FastCgi:
    """One script on one server."""

    def __init__(self, script):
        self.script = str(script).encode()

    def request(self, keep=True, path=b"/"):
        params = (pair(b"SCRIPT_FILENAME", self.script) + pair(b"SCRIPT_NAME", path)
                  + pair(b"REQUEST_METHOD", b"GET"))
        return (record(BEGIN, struct.pack(">HB5x", RESPONDER, keep)) + record(PARAMS, params)
                + record(PARAMS) + record(STDIN))

    @staticmethod
    def body(data):
        """Of a complete answer, None if more is to come."""
        said = b""
        while len(data) >= HEADER.size:
            _, kind, _, length, padding = HEADER.unpack_from(data)
            whole = HEADER.size + length + padding
            if len(data) < whole:
                return None
            if kind == STDOUT:
                said += data[HEADER.size:HEADER.size + length]
            elif kind == END:
                return said.partition(b"\r\n\r\n")[2]
            data = data[whole:]
        return None
