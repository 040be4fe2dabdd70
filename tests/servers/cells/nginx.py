import signal

from harness.cell import Cell, as_root, bind_text, write

CONFIGURATION = """
daemon off;
{user}
pid {directory}/nginx.pid;
error_log stderr notice;
worker_processes 2;
events {{ worker_connections 512; {events} }}
http {{
  access_log off;
  keepalive_requests 100000;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  server {{
    listen {address} {listen};
    location / {{ return 200 $pid; }}
  }}
}}
"""


class Default(Cell):
    """Workers run as www-data and add the listener with EPOLLEXCLUSIVE."""
    server = "nginx"
    program = "/usr/sbin/nginx"
    reload_signal = signal.SIGHUP
    stop_signal = signal.SIGQUIT
    events = ""
    listen = ""

    def command(self, directory, address):
        configuration = write(directory, "nginx.conf", CONFIGURATION.format(
            user=as_root("user www-data;"), directory=directory, address=bind_text(address),
            events=self.events, listen=self.listen))
        return [self.program, "-c", configuration, "-p", directory, "-e", "stderr"]


class Owned(Default):
    owned = True
    fails = {"daemon_killed": "a restarted ringdeald cannot bind what its workers still hold"}
