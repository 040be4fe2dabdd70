"""The configuration of an nginx that a test starts: in the foreground, everything that it writes in
one directory. Used by scripts/lib/servers.py too."""

CONFIGURATION = """
daemon off;
pid {directory}/nginx.pid;
worker_processes {workers};
{main}
events {{ worker_connections {connections}; {events} }}
http {{
  access_log off;
  {http}
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  server {{
    {listen}
    {locations}
  }}
}}
"""
ANSWER_PID = "location / { return 200 $pid; }"


def configuration(directory, *listen, workers=2, connections=512, main="", events="", http="",
                  locations=ANSWER_PID):
    """`listen`: what each of its listen directives says. `main`, `events`, `http`: more directives of
    these blocks."""
    return CONFIGURATION.format(
        directory=directory, workers=workers, connections=connections, main=main, events=events,
        http=http, listen=" ".join(f"listen {each};" for each in listen), locations=locations)
