"""What runs inside the sandbox before foreign code does: first code, fork server, a job's walls."""
