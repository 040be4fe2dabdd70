#!/usr/bin/python3
"""A server of one process, without any thought of others: binds, prints its port, and answers
every request with its process number. SIGTERM ends it with exit code 0."""

import asyncio
import os
import signal
import sys


async def answer(reader, writer):
    while await reader.readline():
        while await reader.readline() not in (b"\r\n", b""):
            pass
        body = str(os.getpid()).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    writer.close()


async def main(address):
    host, _, port = address.rpartition(":")
    server = await asyncio.start_server(answer, host, int(port))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    # In one piece also where nothing is buffered: copies share the output.
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await ended.wait()
    server.close()


asyncio.run(main(sys.argv[1]))
