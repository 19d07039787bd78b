"""The workflow file calls what `.ci/run` does, on every system that is named."""

from __future__ import annotations

import yaml

from tests.conftest import PROJECT


def test_the_workflow_runs_our_own_steps_on_three_systems() -> None:
    text = (PROJECT / ".github/workflows/ci.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    systems = {name.partition("-")[0] for name in job["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert [s["run"] for s in job["steps"] if "run" in s] == ["bash .ci/run"]
