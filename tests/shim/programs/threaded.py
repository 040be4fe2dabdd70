"""Two forks after listen, each a socketserver that polls and then blocks in accept, a thread for
each connection."""
import os
import socketserver


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%d"
                         % (len(str(os.getpid())), os.getpid()))
        self.rfile.read()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


with Server(("127.0.0.1", 0), Handler) as server:
    print("port", server.server_address[1], flush=True)
    for _ in range(2):
        if os.fork() == 0:
            server.serve_forever()
    os.wait()
