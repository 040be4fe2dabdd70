#!/usr/bin/python3
"""jailed_server.py ADDRESS WORKERS ROOT USER: as prefork_server.py, whose workers change root and user
between listen and accept, as nginx's and many others' do."""
import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../programs"))

import prefork  # noqa: E402
import prefork_server  # noqa: E402


def main():
    address, workers, root, user = sys.argv[1:]
    listener, ready = prefork.listen(address)

    def worker(_number):
        os.chroot(root)
        os.chdir("/")
        os.setgroups([])
        os.setgid(int(user))
        os.setuid(int(user))
        asyncio.run(prefork_server.Worker(listener).run())

    prefork.serve(int(workers), worker, ready)


if __name__ == "__main__":
    main()
