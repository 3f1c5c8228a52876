# expect: runtime_error


class Unsupported(Exception):
    reason = "this machine has no tensor cores"
    location = None


def solution(x):
    raise Unsupported
