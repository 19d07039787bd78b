"""`manage.py icm_bench_latency …`: the same as `icm bench-latency …`."""

from icm_site.benchmarks.latency import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Measure hooks, commands and MCP clients from start to answer."
    main = staticmethod(main)
