"""`manage.py icm_bench_scale …`: the same as `icm bench-scale …`."""

from icm_site.benchmarks.scale import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Measure searches and writes with up to a million memories."
    main = staticmethod(main)
