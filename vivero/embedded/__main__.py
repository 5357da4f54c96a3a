"""`python -m vivero.embedded`: the supervisor. Started by `acquire`, not by hand."""

import sys

from vivero.embedded.supervisor import main

main(sys.argv[1:])
