"""Recorded agents run again: their turns, and other answers to them.

Entry: `turns.turns_of`, `turns.again`.
Imports: feel, memory.
"""
