"""What the benchmarks share: load, upstream, processes, report."""
