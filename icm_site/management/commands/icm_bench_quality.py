"""`manage.py icm_bench_quality …`: the same as `icm bench-quality …`."""

from icm_site.benchmarks.quality import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Measure retrieval quality on evaluation files."
    main = staticmethod(main)
