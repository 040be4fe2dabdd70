"""The servers of the matrix, in the order of the table."""
from cells import apache, gunicorn, nginx, node, php_fpm, puma

ALL = [nginx.Default, nginx.Owned, apache.Prefork, gunicorn.Sync, php_fpm.Static, puma.Cluster,
       node.Single]
