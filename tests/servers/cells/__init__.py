"""The servers of the matrix, in the order of the table."""
from cells import (apache, go, gunicorn, haproxy, jvm, lighttpd, memcached, nginx, node, php_fpm,
                   postgres, puma, python, redis, rust, starman, tornado, unicorn, uvicorn, uwsgi)

ALL = [
    nginx.Default, nginx.Owned, nginx.AcceptMutex, nginx.MultiAccept, nginx.ReusePort,
    nginx.Deferred, nginx.Upgrade, nginx.UpgradeWithShim,
    apache.Prefork, apache.PreforkTwo, apache.Event, apache.EventTwo, apache.Worker,
    apache.WorkerTwo,
    gunicorn.Sync, gunicorn.Threads, uvicorn.Workers, tornado.Forked,
    uwsgi.Plain, uwsgi.ThunderLock, uwsgi.Cheap,
    php_fpm.Static, php_fpm.StaticUnix, php_fpm.Dynamic, php_fpm.DynamicUnix, php_fpm.OnDemand,
    php_fpm.OnDemandUnix,
    puma.Cluster, puma.Single, unicorn.Default, unicorn.Upgrade,
    lighttpd.MaxWorker, starman.Default, python.Multiprocessing, python.SocketServer,
    node.Single, node.Current, node.Cluster, node.ClusterRoundRobin,
    redis.Default, memcached.Default, memcached.Flood, haproxy.Threads, haproxy.Reload,
    postgres.Default, jvm.Socket, jvm.Channel, rust.Std, go.Http,
]
