"""PostgreSQL on Trio: connections, pools, pipelines, notifications, errors, and several servers.

Entry: `driver.connect`, `pool.Pool`, `primary.Primary`.
Imports: nothing of ours.
"""
