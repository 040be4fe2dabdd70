"""clang-tidy over the sources of a build directory, on all processors, with a stamp for each source
that was clean. Usage: tidy.py CLANG_TIDY BUILD_DIRECTORY [with-tests | changed]"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys


def dependencies(build):
    """The project's own files that each object was compiled from, as ninja recorded them."""
    listing = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True
    ).stdout
    root = os.getcwd()
    found, current = {}, None
    for line in listing.splitlines():
        if line and not line[0].isspace():
            current = found.setdefault(line.split(":")[0], [])
        elif line.strip():
            path = os.path.normpath(os.path.join(build, line.strip()))
            if os.path.abspath(path).startswith(root):
                current.append(path)
    return found


def stamp_name(entry, files, shared):
    digest = hashlib.sha256(shared + entry["command"].encode())
    for path in sorted(set(files) | {entry["file"]}):
        digest.update(pathlib.Path(path).read_bytes())
    return digest.hexdigest()


def changed_files():
    """What the last commit and the working tree changed."""
    def git(*arguments):
        run = subprocess.run(["git", *arguments], capture_output=True, text=True)
        return run.stdout.splitlines() if run.returncode == 0 else []
    names = (git("diff", "--name-only", "HEAD~1") or git("ls-files")) + git(
        "ls-files", "--others", "--exclude-standard")
    return {os.path.abspath(name) for name in names}


def main(tool, build, which=""):
    entries = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
    # What the build generated, and the tests unless they are asked for.
    left_out = (os.path.abspath(build), *([] if which == "with-tests" else [os.path.abspath("tests")]))
    # One look at each source, however many targets compile it.
    by_source = {entry["file"]: entry for entry in entries
                 if not entry["file"].startswith(left_out)}
    recorded = dependencies(build)
    if which == "changed":
        changed = changed_files()
        by_source = {
            file: entry for file, entry in by_source.items()
            if changed & {file, *map(os.path.abspath, recorded.get(entry.get("output"), []))}}
    shared = pathlib.Path(".clang-tidy").read_bytes()
    stamps = pathlib.Path(build, "tidy")
    stamps.mkdir(exist_ok=True)

    def check(entry):
        stamp = stamps / stamp_name(entry, recorded.get(entry.get("output"), []), shared)
        if stamp.exists():
            return None
        run = subprocess.run(
            [tool, "-p", build, "--quiet", entry["file"]], capture_output=True, text=True
        )
        if run.returncode == 0:
            stamp.touch()
            return None
        return run.stdout + run.stderr

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(check, by_source.values()) if text]
    for text in complaints:
        print(text, file=sys.stderr)
    print(f"tidy: {len(by_source)} sources, {len(complaints)} with complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
