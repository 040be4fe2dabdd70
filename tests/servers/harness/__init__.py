"""Runs the cells of the compatibility matrix: a real server, the checks, what came out of them."""
