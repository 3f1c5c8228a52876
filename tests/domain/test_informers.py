"""Keys by which a criterion names its evidence: each is a finding, a stage, or a field of the report."""

import pytest

from app import schemas
from app.domain import informers
from app.domain.report import StageName
from tests.pages import sample_reports


class TestIsInformer:
    @pytest.mark.parametrize(
        "key",
        ["numerics.wrong_values", "numerics.*", "numerics.wrong_*", "sanitize", "verdict", "workloads.outputs.max_ulp",
         "workloads.outputs.worst.ulp", "builds.diagnostics", "claims.status", "benchmark.workloads.speedup_interval"],
    )  # fmt: skip
    def test_takes_findings_stages_and_fields(self, key):
        assert informers.is_informer(key)

    @pytest.mark.parametrize(
        "key", ["numerics.wrongly", "numeric.*", "workloads.max_ulp", "diff", "benchmark.workloads.happiness", "", "*x"]
    )
    def test_takes_nothing_else(self, key):
        assert not informers.is_informer(key)

    def test_only_codes_cap(self):
        assert informers.is_code("claims.contradicted") and informers.is_code("runtime.*")
        assert not informers.is_code("workloads.outputs.max_ulp")

    def test_the_near_one_is_named(self):
        assert informers.nearest("workloads.max_ulp") == "workloads.outputs.max_ulp"

    def test_every_field_is_one_of_the_published_schema(self):
        schema = schemas.of("report")
        for key in informers._fields(informers.Report):
            here = schema
            for name in key.split("."):
                here = _resolved(here, schema)["properties"][name]

    def test_the_open_table_lists_what_reports_hold(self):
        for key in informers._open_fields():
            here = sample_reports.measured().to_json()
            for name in key.split("."):
                here = (here[0] if isinstance(here, list) else here)[name]


class TestStageOf:
    @pytest.mark.parametrize(
        ("key", "stage"),
        [("numerics.*", StageName.CORRECTNESS), ("builds.ok", StageName.COMPILE), ("fairness.*", StageName.BENCHMARK),
         ("benchmark.workloads.speedup", StageName.BENCHMARK), ("runtime.race", StageName.SANITIZE), ("claims", None)],
    )  # fmt: skip
    def test_is_the_one_that_decides(self, key, stage):
        assert informers.stage_of(key) == stage


def _resolved(schema, whole):
    """Through references, optional values and lists to the object."""
    while "properties" not in schema:
        if "$ref" in schema:
            schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
        elif "anyOf" in schema:
            schema = next(s for s in schema["anyOf"] if s != {"type": "null"})
        else:
            schema = schema["items"]
    return schema
