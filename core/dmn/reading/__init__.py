"""DMN files: XML in, a model of plain data or all problems out. Every version of DMN is read by local names.

Entry: `document.read_definitions`.
Imports: bpmn.
"""
