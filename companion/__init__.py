"""The wiring: settings, urls, sockets, tasks, and the supervisor that runs it all."""
