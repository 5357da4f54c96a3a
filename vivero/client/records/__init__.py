"""Records of searches and their filters. `make statements` writes the modules of all resources.

Entry: `process_instances.ProcessInstanceRecord`, `user_tasks.UserTaskRecord`.
Imports: nothing of ours.
"""
