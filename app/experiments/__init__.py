"""The bench: a reviewer's own runs beside a review, as evidence."""
