"""The chores of the program: deletion of ended trees and old logs, expired messages, hashes, recounts.

Entry: `chores`, `history`.
Imports: core, storage, buckets, jobs.
"""
