"""Models to closures: references between elements, types, boxed expressions, tables, functions.

Entry: `linking.link`, `graph.compile_graph`.
Imports: bpmn, feel.
"""
