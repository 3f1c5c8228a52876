# expect: compile_error compile.no_entry
def solve(x, w, b):
    return x
