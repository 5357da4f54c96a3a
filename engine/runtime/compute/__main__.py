"""`python -m vivero.engine.runtime.compute`: a compute process, which `compute_process` starts."""

from vivero.engine.runtime.compute.work_loop import main

main()
