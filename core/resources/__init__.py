"""The files of a deployment, whatever their kind: models, forms, decisions and others, or all of their problems.

Entry: `kinds.read_resources`, `kinds.read_resource`, `problems.problems_of`.
Imports: bpmn, dmn, events.
"""
