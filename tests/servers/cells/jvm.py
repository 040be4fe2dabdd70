from harness.cell import SingleProcess, write

SOCKET = """
import java.io.*;
import java.net.*;
import java.util.concurrent.Phaser;

class Server {
  static final Phaser served = new Phaser(1);  // who waits for the others at the end

  static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      var in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
      var out = socket.getOutputStream();
      var pid = String.valueOf(ProcessHandle.current().pid());
      var answer = "HTTP/1.1 200 OK\\r\\nContent-Length: " + pid.length() + "\\r\\n\\r\\n" + pid;
      boolean close = false;
      for (String line; !close && (line = in.readLine()) != null;) {
        boolean last = line.equals("Connection: close");
        for (; line != null && !line.isEmpty(); line = in.readLine())
          last |= line.equals("Connection: close");
        if (line == null) break;
        out.write(answer.getBytes());
        close = last;
      }
    } catch (IOException gone) {
    } finally {
      served.arriveAndDeregister();
    }
  }

  public static void main(String[] arguments) throws Exception {
    var server = new ServerSocket(Integer.parseInt(arguments[1]), 1024,
                                  InetAddress.getByName(arguments[0]));
    var accepting = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        server.close();
        accepting.join();
        served.arriveAndAwaitAdvance();
      } catch (IOException | InterruptedException failure) {
        System.err.println(failure);
      }
    }));
    while (!server.isClosed()) {
      try {
        var socket = server.accept();
        served.register();
        new Thread(() -> serve(socket)).start();
      } catch (IOException failure) {
        Thread.sleep(10);  // nothing says when there is a descriptor again
      }
    }
  }
}
"""
CHANNEL = """
import java.io.IOException;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;

class Server {
  static volatile boolean stopping;

  static void accept(ServerSocketChannel server, Selector selector) throws Exception {
    try {
      var channel = server.accept();
      if (channel == null) return;
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, "");
    } catch (IOException failure) {
      Thread.sleep(10);  // nothing says when there is a descriptor again
    }
  }

  static void read(SocketChannel channel, SelectionKey key) throws IOException {
    var buffer = ByteBuffer.allocate(4096);
    int length = channel.read(buffer);
    if (length < 0) {
      channel.close();
      return;
    }
    var asked = (String) key.attachment() + new String(buffer.array(), 0, length);
    if (!asked.endsWith("\\r\\n\\r\\n")) {
      key.attach(asked);
      return;
    }
    key.attach("");
    var pid = String.valueOf(ProcessHandle.current().pid());
    var answer = "HTTP/1.1 200 OK\\r\\nContent-Length: " + pid.length() + "\\r\\n\\r\\n" + pid;
    channel.write(ByteBuffer.wrap(answer.getBytes()));
    if (stopping || asked.contains("Connection: close")) channel.close();
  }

  public static void main(String[] arguments) throws Exception {
    var server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 1024);
    server.configureBlocking(false);
    var selector = Selector.open();
    server.register(selector, SelectionKey.OP_ACCEPT);
    var serving = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      stopping = true;
      selector.wakeup();
      try {
        serving.join();
      } catch (InterruptedException failure) {
        System.err.println(failure);
      }
    }));
    while (!stopping || selector.keys().size() > 0) {
      selector.select();
      if (stopping && server.isOpen()) {
        server.close();
        selector.selectNow();
      }
      for (var key : selector.selectedKeys()) {
        if (!key.isValid()) continue;
        try {
          if (key.isAcceptable()) {
            accept(server, selector);
          } else {
            read((SocketChannel) key.channel(), key);
          }
        } catch (IOException gone) {
          key.channel().close();
        }
      }
      selector.selectedKeys().clear();
      selector.selectNow();  // forgets those that were closed
    }
  }
}
"""


class Jvm(SingleProcess):
    """Its listener is of IPv6 even for an address of IPv4."""
    server = "JVM"
    program = "/usr/bin/java"
    version_arguments = ("--version",)
    stop_status = 143  # 128 and SIGTERM
    code = ""

    def command(self, directory, address):
        return [self.program, "-Xmx128m", write(directory, "Server.java", self.code), *address]


class Socket(Jvm):
    """One thread blocks in accept; another one closes the listener under it."""
    variant = "ServerSocket"
    code = SOCKET


class Channel(Jvm):
    """An epoll set, and accept until there is nothing more at a time of its own."""
    variant = "NIO"
    code = CHANNEL
