"""Benchmarks and evaluations; each module runs on its own."""
