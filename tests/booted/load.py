"""Clients of http://127.0.0.1:80/, one request a connection, in the booted system. For each line on standard
input it says how many requests were answered, and which failed; at its end it ends."""
import json
import socket
import sys
import threading

CLIENTS = 4
answered = 0
failed = []
ended = threading.Event()
lock = threading.Lock()


def ask():
    with socket.create_connection(("127.0.0.1", 80), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        answer = b""
        while block := connection.recv(65536):
            answer += block
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise OSError(f"answered {answer[:40]!r}")


def serve_clients():
    global answered
    while not ended.is_set():
        try:
            ask()
        except OSError as error:
            with lock:
                failed.append(str(error))
        else:
            with lock:
                answered += 1


clients = [threading.Thread(target=serve_clients) for _ in range(CLIENTS)]
for each in clients:
    each.start()
for _ in sys.stdin:
    with lock:
        print(json.dumps({"answered": answered, "failed": failed[:5]}), flush=True)
ended.set()
for each in clients:
    each.join()
