"""`python -m vivero.embedded`: the supervisor, which `acquire` starts."""

import sys

from vivero.embedded.supervisor import main

main(sys.argv[1:])
