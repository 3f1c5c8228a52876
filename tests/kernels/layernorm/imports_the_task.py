# expect: compile_error
from reference import reference as solution
