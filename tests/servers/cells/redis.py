import re

from support.clients import connect, free_port
from support.waiting import wait_until

from harness.cell import SingleProcess


class Protocol:
    """A second command, whose answer is one line, so that the answer to QUIT is waited for too."""

    @staticmethod
    def request(keep=True):
        return b"INFO server\r\n" + (b"PING\r\n" if keep else b"QUIT\r\n")

    @staticmethod
    def body(data):
        answer = re.fullmatch(rb"\$\d+\r\n.*process_id:(\d+).*\r\n\r\n\+\w+\r\n", data, re.DOTALL)
        return answer and answer.group(1)


def ask(address, command, end=b"\r\n"):
    """The answer to one command, which ends with `end`."""
    with connect(address) as connection:
        connection.sendall(command + b"\r\n")
        data = b""
        while not data.endswith(end):
            data += (more := connection.recv(65536))
            assert more, f"closed after {data!r}"
    return data


class Default(SingleProcess):
    """A forked process that saves the data closes the listener; the port can be changed."""
    server = "redis"
    program = "/usr/bin/redis-server"
    version_arguments = ("--version",)
    protocol = Protocol
    own = {"stop_under_load": "it ends with connections that it has accepted and not answered; "
                              "seen in one of ten runs bare, in six of ten dealt",
           "descriptor_limit": "it closes what is more than its maxclients, made from the limit"}

    def command(self, directory, address):
        return [self.program, "--bind", address[0], "--port", address[1], "--dir", directory,
                "--save", "", "--daemonize", "no"]

    def special(self, lab):
        """BGSAVE, then to another port and back."""
        assert b"started" in ask(lab.address, b"BGSAVE")
        wait_until(lambda: b"rdb_bgsave_in_progress:0" in ask(
            lab.address, b"INFO persistence", b"\r\n\r\n"), "the data is saved")
        other = lab.address[0], free_port()
        for old, new in ((lab.address, other), (other, lab.address)):
            assert ask(old, b"CONFIG SET port %d" % new[1]) == b"+OK\r\n"
            assert b"process_id:%d" % lab.server.pid in ask(new, b"INFO server", b"\r\n\r\n")
