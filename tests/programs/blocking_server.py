#!/usr/bin/python3
"""A prefork HTTP/1.1 server whose workers block in accept and serve one connection at a time.

It binds and listens, forks the workers, and prints its port. Every path is answered with the
worker's process number; /block/3000 waits 3000 ms before it answers.
"""

import os
import time

import prefork


def answer_requests(connection):
    """Until the client closes, or a request asks for it."""
    with connection, connection.makefile("rb") as requests:
        while request := requests.readline():
            path, version = request.decode("latin-1").split()[1:3]
            asked = ""
            while (line := requests.readline()) not in (b"\r\n", b""):
                name, _, value = line.decode("latin-1").partition(":")
                if name.lower() == "connection":
                    asked = value.strip().lower()
            keep = asked == "keep-alive" if version == "HTTP/1.0" else asked != "close"
            if path.startswith("/block/"):
                time.sleep(int(path.rpartition("/")[2]) / 1000)
            body = str(os.getpid())
            connection.sendall(
                f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
                f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n{body}".encode())
            if not keep:
                return


def main():
    options = prefork.arguments(__doc__.partition("\n")[0]).parse_args()
    listener, ready = prefork.listen(options.address, options.backlog)

    def worker(_number):
        while True:
            connection, _ = listener.accept()
            try:
                answer_requests(connection)
            except ConnectionError:
                pass

    prefork.serve(options.workers, worker, ready)


if __name__ == "__main__":
    main()
