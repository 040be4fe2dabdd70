"""A master that listens, whose child blocks in accept and answers "first". After SIGUSR1 the master
ends it and executes itself again: then its child answers "again" on the same listener."""
import os
import signal
import socket
import sys

again = len(sys.argv) > 1
if again:
    listener = socket.socket(fileno=int(sys.argv[1]))  # its flags as they are
else:
    listener = socket.create_server(("127.0.0.1", 0))
    os.set_inheritable(listener.fileno(), True)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
child = os.fork()
while child == 0:
    connection, _ = listener.accept()
    connection.sendall(b"again" if again else b"first")
    connection.close()
sys.stdout.write("again\n" if again else f"port {listener.getsockname()[1]}\n")  # in one piece
sys.stdout.flush()
signal.sigwait({signal.SIGUSR1})
os.kill(child, signal.SIGKILL)
os.wait()
os.execv(sys.executable, [sys.executable, __file__, str(listener.fileno())])
