"""Benchmarks: ratios of two ways of doing the same thing, measured side by side in one run (`make bench`)."""
