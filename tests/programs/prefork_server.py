#!/usr/bin/python3
"""A prefork HTTP/1.1 server: workers that share a listener, each with an asyncio loop.

It binds and listens, forks the workers, and prints its port. Every path is answered with the
worker's process number, and some do more:

  /block/3000       says so and blocks the loop for 3000 ms before it answers
  /close-listener   closes the worker's listening descriptor; open connections are served on
  /exit             ends the worker with exit code 0 after the answer
"""

import asyncio
import os
import time

import prefork


class Connection(asyncio.Protocol):
    def __init__(self, worker):
        self.worker = worker
        self.received = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        while b"\r\n\r\n" in self.received and not self.transport.is_closing():
            head, _, rest = self.received.partition(b"\r\n\r\n")
            request, *lines = head.decode("latin-1").split("\r\n")
            headers = {}
            for line in lines:
                name, _, value = line.partition(":")
                headers[name.strip().lower()] = value.strip()
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self.received = rest[length:]
            self.answer(request, headers.get("connection", "").lower())

    def answer(self, request, connection):
        _method, path, version = request.split(" ")
        keep = connection == "keep-alive" if version == "HTTP/1.0" else connection != "close"
        if path.startswith("/block/"):
            print("blocks", flush=True)
            time.sleep(int(path.rpartition("/")[2]) / 1000)
        if path == "/close-listener":
            self.worker.close()
        body = str(os.getpid())
        self.transport.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
            f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n{body}".encode())
        if path == "/exit":
            os._exit(0)
        if not keep:
            self.transport.close()


class Worker:
    def __init__(self, listener):
        self.listener = listener

    async def run(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Connection(self), sock=self.listener)
        await loop.create_future()

    def close(self):
        """asyncio forgets, and says so in debug mode only, what it accepted in the pass in which its
        server is closed: that has its transport one pass later."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.listener.fileno())
        loop.call_soon(loop.call_soon, self.server.close)


def main():
    parser = prefork.arguments(__doc__.partition("\n")[0])
    parser.add_argument("--hold-worker", nargs=2, type=float, metavar=("NUMBER", "SECONDS"),
                        help="this worker starts to accept only after so long")
    parser.add_argument("--reuse-port", action="store_true", help="others may bind the address too")
    options = parser.parse_args()
    listener, ready = prefork.listen(options.address, options.backlog, options.reuse_port)

    def worker(number):
        if options.hold_worker and number == options.hold_worker[0]:
            time.sleep(options.hold_worker[1])
        asyncio.run(Worker(listener).run())

    prefork.serve(options.workers, worker, ready)


if __name__ == "__main__":
    main()
