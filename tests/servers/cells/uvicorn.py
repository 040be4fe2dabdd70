from harness.cell import Cell, titled, write

APPLICATION = """
import os

async def application(scope, receive, send):
    body = str(os.getpid()).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
"""


class Workers(Cell):
    """The parent binds; children that are programs of their own listen."""
    server = "uvicorn"
    variant = "2 workers"
    program = "/usr/bin/uvicorn"
    version_arguments = ("--version",)
    slow = True

    def command(self, directory, address):
        write(directory, "application.py", APPLICATION)
        host, port = address
        return [self.program, "--app-dir", directory, "--host", host, "--port", port, "--workers",
                self.workers, "--lifespan", "off", "--no-access-log", "application:application"]

    def worker_pids(self, server):
        return titled(server, "spawn_main")
