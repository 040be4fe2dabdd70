from harness.cell import Cell, SingleProcess, write

SERVER = """
import http.server, os, signal, sys, threading
{imports}

class Pid(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = str(os.getpid()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = False

def stop(*_):
    threading.Thread(target=server.shutdown).start()

def serve():
    signal.signal(signal.SIGTERM, stop)
    server.serve_forever(0.1)
    server.server_close()

server = Server(("{host}", {port}), Pid)
{serve}
"""
FORKING = """
context = multiprocessing.get_context("fork")
workers = [context.Process(target=serve) for _ in range(2)]
for worker in workers:
    worker.start()
signal.signal(signal.SIGTERM, lambda *_: [worker.terminate() for worker in workers])
for worker in workers:
    worker.join()
"""


class Python(Cell):
    server = "Python"
    program = "/usr/bin/python3"
    version_arguments = ("--version",)
    slow = True
    imports = ""
    serve = "serve()"

    def command(self, directory, address):
        return [self.program, write(directory, "server.py", SERVER.format(
            host=address[0], port=address[1], imports=self.imports, serve=self.serve))]


class SocketServer(Python, SingleProcess):
    """Waits in a poll, accepts from a blocking listener, and has a thread for each connection."""
    variant = "socketserver"


class Multiprocessing(Python):
    """Processes that were forked with the listener wait in a poll, then accept: who comes too late
    blocks there."""
    variant = "multiprocessing"
    imports = "import multiprocessing"
    fails = {"burst": "it blocks in accept and counts as one that serves one connection at a time: "
                      "whichever process comes back first is given the next"}
    at_times = tuple(fails)
    serve = FORKING
