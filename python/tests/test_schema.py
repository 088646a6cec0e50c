"""Every document has the form that its JSON Schema in docs/schema describes."""

import copy
import json
from pathlib import Path

import jsonschema
import pandas
import pytest

import hodgerank

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schema"
SCHEMAS = {file.name.split(".")[0]: json.loads(file.read_text("utf-8")) for file in FOLDER.iterdir()}
# Objects whose keys are options, columns of the input or classes of annotators.
MAPS = {"given", "chosen", "columns", "classes"}

CASES = [
    (command, file, {})
    for command in ["rank", "outliers", "predict", "compare", "decompose", "diagnose", "path"]
    for file in ["complete.csv", "annotators.csv", "components.csv", "graded.csv", "formats/votes.csv"]
] + [
    (command, "studies.csv", {"by": "study"})
    for command in ["rank", "outliers", "predict", "compare", "decompose", "diagnose", "path"]
]
CASES += [
    ("rank", "annotators.csv", {"method": method})
    for method in ["lasso-l2", "l2", "ridge", "pc-lasso", "ilts", "iht", "hlasso", "lbi", "iss", "bt"]
]
CASES += [
    ("annotators", "annotators.csv", {}),
    ("annotators", "annotators.csv", {"explain": "careful-20"}),
    ("annotators", "annotators.csv", {"fdr": "10%"}),
    ("certify", "formats/votes.csv", {"method": "l2"}),
    ("certify", "annotators.csv", {"method": "l2", "pair": ("item-12", "item-20")}),
    ("certify", "studies.csv", {"method": "l2", "by": "study"}),
    ("compare", "annotators.csv", {"scale": "elo"}),
    ("diagnose", "graded.csv", {"outliers": "5%"}),
    ("outliers", "annotators.csv", {"all": True, "keep": "bad"}),
    ("outliers", "incomplete.csv", {"per_group": True}),
    ("path", "formats/votes.csv", {"what": "events"}),
    ("predict", "annotators.csv", {"matrix": True}),
    ("predict", "annotators.csv", {"holdout": "20%", "seed": 1}),
    ("rank", "annotators.csv", {"exclude_annotators": "suspicious"}),
    ("rank", "annotators.csv", {"intervals": "none"}),
    ("rank", "annotators.csv", {"scale": "elo", "anchor": {"item-12": 1200}}),
    ("rank", "annotators.csv", {"position_bias": "correct", "biased_annotators": "careful-20"}),
    ("rank", "annotators.csv", {"ties": "drop"}),
    ("rank", "components.csv", {"min_votes": 20}),
    ("rank", "graded.csv", {"outliers": "cv=3"}),
]


def validator(name):
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def check(name, document):
    errors = sorted(validator(name).iter_errors(document), key=lambda error: -len(error.path))
    leaves = [context for error in errors for context in error.context or [error]]
    assert not errors, [f"{list(error.absolute_path)}: {error.message[:300]}" for error in leaves[:5]]


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_valid(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"hodgerank/{name}/1"


@pytest.mark.filterwarnings("ignore::hodgerank.HodgerankWarning")
@pytest.mark.parametrize("command, file, options", CASES)
def test_documents_have_the_form(testdata, command, file, options):
    check(command, getattr(hodgerank, command)(testdata / file, **options).document)


@pytest.mark.filterwarnings("ignore::hodgerank.HodgerankWarning")
def test_tables_rejected_rows_and_changes(testdata):
    table = pandas.read_csv(testdata / "annotators.csv")
    before = hodgerank.rank(table, method="l2")
    check("rank", before.document)
    check("rank", hodgerank.rank(table, method="l2", against=before).document)
    table.loc[3, "winner"] = "nobody"
    check("rank", hodgerank.rank(table, on_error="skip").document)
    table["scene"] = ["a", "b"] * (len(table) // 2)
    check("annotators", hodgerank.annotators(table, on_error="skip", by="scene").document)


@pytest.mark.parametrize("name", ["next"])
def test_golden_documents_of_commands_without_a_function(testdata, name):
    check(name, json.loads((testdata / "golden" / f"{name}.json").read_text("utf-8")))


def objects(value, path=()):
    """All objects with fixed keys in a document."""
    if isinstance(value, dict):
        if not path or path[-1] not in MAPS:
            yield value
        for key, part in value.items():
            yield from objects(part, (*path, key))
    elif isinstance(value, list):
        for part in value[:1]:
            yield from objects(part, (*path, 0))


@pytest.mark.filterwarnings("ignore::hodgerank.HodgerankWarning")
@pytest.mark.parametrize("command", [name for name in SCHEMAS if name not in ("certify", "next")])
def test_undocumented_keys_are_found(testdata, command):
    document = getattr(hodgerank, command)(testdata / "annotators.csv").document
    for number in range(len(list(objects(document)))):
        changed = copy.deepcopy(document)
        list(objects(changed))[number]["undocumented"] = 1
        assert not validator(command).is_valid(changed), number
