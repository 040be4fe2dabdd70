from harness import built
from harness.cell import SingleProcess

CODE = r"""
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

fn serve(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(&stream);
    let body = std::process::id().to_string();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.len(), body);
    let mut line = String::new();
    let mut last = false;
    while reader.read_line(&mut line)? > 0 {
        last |= line == "Connection: close\r\n";
        if line == "\r\n" {
            (&stream).write_all(answer.as_bytes())?;
            if last {
                break;
            }
        }
        line.clear();
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let listener = TcpListener::bind(format!("{}:{}", arguments[1], arguments[2]))?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => drop(std::thread::spawn(move || serve(stream))),
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    }
}
"""


class Std(SingleProcess):
    """One thread blocks in accept, and starts one for each connection."""
    server = "Rust"
    variant = "std::net"
    program = "/usr/bin/rustc"
    version_arguments = ("--version",)
    stop_signal = None

    def command(self, directory, address):
        executable = built.program("rust-std", "server.rs", CODE,
                                   lambda source, target: [self.program, "-O", "-o", target, source])
        return [executable, *address]
