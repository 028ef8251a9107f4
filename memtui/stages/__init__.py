"""What happens behind: one file per arrow, data flows one way.

    spool → ingest → segment → summarize → rollup → index

A step takes a small batch, writes its result and its cursor in one transaction, and
returns how many things it did; 0 means rest. Killed anywhere, it resumes.
"""
