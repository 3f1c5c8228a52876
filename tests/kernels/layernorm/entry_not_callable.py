# expect: compile_error compile.no_entry
solution = 42
