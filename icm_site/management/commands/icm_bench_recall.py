"""`manage.py icm_bench_recall …`: the same as `icm bench-recall …`."""

from icm_site.benchmarks.recalling import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Ask a model about a document it has read once, with and without ICM."
    main = staticmethod(main)
