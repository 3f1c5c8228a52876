"""`workbench serve`: broker, worker, web and scheduler as children of one process."""
