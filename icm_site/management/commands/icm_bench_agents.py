"""`manage.py icm_bench_agents …`: the same as `icm bench-agents …`."""

from icm_site.benchmarks.sharing import main
from icm_site.management.benchmark import Benchmark


class Command(Benchmark):
    help = "Let several agents share what they learn."
    main = staticmethod(main)
