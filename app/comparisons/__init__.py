"""Comparisons: two to four submissions to one task, opened for people to rank."""
