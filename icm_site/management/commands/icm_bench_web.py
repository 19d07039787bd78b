"""`manage.py icm_bench_web …`: the same as `icm bench-web …`."""

from icm_site.benchmarks.web import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Measure the admin pages and the HTTP interfaces."
    main = staticmethod(main)
