import re

from harness.cell import SingleProcess, as_root


class Protocol:
    @staticmethod
    def request(keep=True):
        return b"stats\r\n" + (b"" if keep else b"quit\r\n")

    @staticmethod
    def body(data):
        answer = re.fullmatch(rb"STAT pid (\d+)\r\n.*\r\nEND\r\n", data, re.DOTALL)
        return answer and answer.group(1)


class Default(SingleProcess):
    """One thread accepts, others serve."""
    server = "memcached"
    program = "/usr/bin/memcached"
    version_arguments = ("--version",)
    protocol = Protocol
    connections = 1024
    own = {"descriptor_limit": "it closes what it has no descriptor for"}

    def command(self, directory, address):
        user = ["-u", "root"] if as_root("-u") else []  # ringdeald adopts from its own user
        return [self.program, "-l", address[0], "-p", address[1], "-U", 0, "-c", self.connections,
                "-t", 2, *user]


class Flood(Default):
    """A server that is full listens with a backlog of 0 and stops watching, until somebody leaves."""
    variant = "-c 40"
    connections = 40
    checks = ("start", "first_request", "descriptor_limit")
