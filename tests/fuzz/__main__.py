"""The command of a full run; exit code 1 where a fault was found."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=50_000, help="in total")
    parser.add_argument(
        "--seed", type=int, default=1, help="another seed, other inputs"
    )
    parser.add_argument("--surface", action="append", help="only this one")
    parser.add_argument(
        "--guided", type=int, default=0, help="inputs of atheris instead"
    )
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    if options.guided:
        from tests.fuzz.guided import guided

        return guided(options.guided)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        return _run(options, Path(folder))


def _run(options: argparse.Namespace, folder: Path) -> int:
    import django

    django.setup()
    from django.conf import settings

    os.environ |= {"ICM_NO_EMBEDDINGS": "1", "ICM_RESIDENT": "0"}
    settings.ALLOWED_HOSTS = ["testserver", "localhost"]
    from icm_site import conf, database

    conf.use(None)  # it was read before it was known that no model is wanted
    from tests.fuzz.place import filled
    from tests.fuzz.run import fuzz
    from tests.fuzz.surfaces import SURFACES

    logging.disable(logging.WARNING)  # each refused request is one
    database.ready()
    place = filled()
    chosen = options.surface or list(SURFACES)
    whole = sum(SURFACES[name].share for name in chosen)
    bad = 0
    for name in chosen:
        count = round(options.inputs * SURFACES[name].share / whole)
        report = fuzz(name, count=count, place=place, number=options.seed)
        speed = report.inputs / report.seconds
        print(
            f"{name:10} {report.inputs:6} inputs, {report.refused:6} refused, "
            f"{speed:5.0f}/s, {sum(report.faults.values())} faults",
            flush=True,
        )
        for fault, times in report.faults.most_common(20):
            print(f"  {times} x {report.examples.get(fault, fault)}", flush=True)
        bad += sum(report.faults.values())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
