"""Models of Camunda 7 and Operaton in the form of Camunda 8: what rules can translate, and notes of the rest.

The documented extensions of Camunda 7.24 are the source; the texts and the code are our own.

Entry: `conversion.convert`.
Imports: feel, reading.
"""
