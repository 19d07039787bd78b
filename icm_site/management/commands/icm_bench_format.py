"""`manage.py icm_bench_format …`: the same as `icm bench-format …`."""

from icm_site.benchmarks.formats import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Measure bytes and tokens of the forms of an answer."
    main = staticmethod(main)
