"""`workbench serve`: broker, worker, web and scheduler as four children of one process."""
