"""Doing something as another user, in a child process."""
import json
import os
import pickle

NOBODY = 65534


def become(uid, gid=None, root=None):
    """A preexec function: another user, in another root directory if one is named."""
    def change():
        if root is not None:
            os.chroot(root)
            os.chdir("/")
        os.setgroups([])
        os.setgid(uid if gid is None else gid)
        os.setuid(uid)
    return change


def run_as(uid, function, *arguments, root=None):
    """What `function` returns there, if JSON can say it; its exception is raised here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            become(uid, root=root)()
            result = b"r" + json.dumps(function(*arguments)).encode()
        except BaseException as error:  # all of them belong to the parent
            result = b"e" + pickle.dumps(error)
        os.write(writer, result)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        result = answer.read()
    os.waitpid(child, 0)
    if result[:1] == b"e":
        raise pickle.loads(result[1:])
    return json.loads(result[1:])
