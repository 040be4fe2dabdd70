import subprocess

from support import build

from harness import built
from harness.cell import SingleProcess

CODE = """
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(answer, os.Getpid())
	})
	server := &http.Server{Addr: os.Args[1] + ":" + os.Args[2]}
	stop := make(chan os.Signal, 1)
	done := make(chan bool)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		server.Shutdown(context.Background())
		done <- true
	}()
	server.ListenAndServe()
	<-done
}
"""


class Http(SingleProcess):
    """Calls the kernel itself, past the shim: it is not dealt, and works as without ringdeal."""
    server = "Go"
    variant = "net/http"
    program = "/usr/bin/go"
    version_arguments = ("version",)
    all_join = False
    checks = ("start", "first_request", "connection_per_request", "keep_alive", "close_seen",
              "stop_under_load", "idle_stop", "daemon_killed", "without_daemon", "descriptor_limit",
              "special")

    def version(self):
        said = subprocess.run([self.program, "version"], capture_output=True, text=True, check=True)
        return said.stdout.split()[2].removeprefix("go")

    def command(self, directory, address):
        executable = built.program(
            "go-http", "server.go", CODE,
            lambda source, target: [self.program, "build", "-o", target, source])
        return [executable, *address]

    def special(self, lab):
        """`ringdeal doctor` says that it is not dealt."""
        if lab.dealt:
            said = subprocess.run(
                [build.COMMAND, "doctor", "--control", lab.daemon.control, str(lab.server.pid)],
                capture_output=True, text=True, check=False)
            assert said.returncode != 0 and "Go" in said.stdout, said
