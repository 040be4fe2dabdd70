"""What process-level tests start and talk to: a real ringdeald, target programs, clients, workers
that speak the protocol by hand. Everything that is started is ended by its own handle."""
