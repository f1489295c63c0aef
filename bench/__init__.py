"""The benchmarks: each `python bench/NAME.py [--json PATH] [--quick]`."""
