"""Escapes that a working sandbox must contain, tried by ourselves before foreign code may."""
