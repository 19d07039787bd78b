"""`manage.py icm_bench_agent …`: the same as `icm bench-agent …`."""

from icm_site.benchmarks.working import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Let an agent work on a small project, with and without ICM."
    main = staticmethod(main)
