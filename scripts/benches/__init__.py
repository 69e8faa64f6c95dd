"""What scripts/bench measures, one module a bench, each with `measure(args) -> rows`."""
