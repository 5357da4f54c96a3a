"""`python -m vivero.engine.compute`: a compute process, which `compute_process` starts."""

from vivero.engine.compute.work_loop import main

main()
