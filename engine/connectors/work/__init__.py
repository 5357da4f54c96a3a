"""The work on one job of a connector, whatever its protocol: lease, secrets, results, the command at the end.

Entry: `calls.outcome`, `leases.JobLeases`, `secrets.UsedSecrets`, `results`.
Imports: core, storage, compute, jobs.
"""
