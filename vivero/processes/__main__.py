"""`python -m vivero.processes`: one process of a program that `vivero up --processes` started."""

from vivero.processes.child import main

main()
