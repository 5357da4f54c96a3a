"""The files of a deployment, whatever their kind: models, forms and decisions, or all of their problems.

Entry: `kinds.read_resources`, `kinds.read_resource`.
Imports: bpmn, dmn.
"""
