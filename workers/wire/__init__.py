"""How values cross between processes: framed JSON with file descriptors, and raw storage bytes.

Judge, reference and candidate never import each other; this room is what all three may import.
It needs the standard library and NumPy, nothing else.
"""
