# expect: compile_error compile.error
import a_package_that_nobody_has


def solution(x, w, b):
    return x
