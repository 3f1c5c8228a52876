"""The dictionary: the words that the web side and the engine share, as plain Python.

Nothing here imports anything but the standard library, so both a web server and a sandboxed
process that holds only NumPy can read it.
"""
