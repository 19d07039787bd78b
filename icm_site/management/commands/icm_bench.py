"""`manage.py icm_bench …`: the same as `icm bench …`."""

from icm_site.benchmarks.storage import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Measure insert, search and decay in a database of its own."
    main = staticmethod(main)
