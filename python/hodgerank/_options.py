"""Options of the commands. Made by scripts/python-docs from the flags; not for editing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict


class RankOptions(TypedDict, total=False):
    """Options of ``rank``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None
    require_connected: bool | None


class OutliersOptions(TypedDict, total=False):
    """Options of ``outliers``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None
    all: bool | None
    per_group: bool | None
    annotators: bool | None


class CleanOptions(TypedDict, total=False):
    """Options of ``clean``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None
    output: str | os.PathLike[str] | None
    flagged: str | os.PathLike[str] | None


class CompareOptions(TypedDict, total=False):
    """Options of ``compare``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    methods: Sequence[str] | str | None
    reference: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None


class DecomposeOptions(TypedDict, total=False):
    """Options of ``decompose``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    triangles: int | None
    loops: int | None
    local: int | None
    max_triangles: int | None
    seed: int | None


class DiagnoseOptions(TypedDict, total=False):
    """Options of ``diagnose``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None
    sigma: float | None
    few_votes: int | None
    draws: int | None
    strict: bool | None


class PathOptions(TypedDict, total=False):
    """Options of ``path``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None
    what: Literal["scores", "events"] | None


class ReportOptions(TypedDict, total=False):
    """Options of ``report``."""

    winner: str | None
    loser: str | None
    left: str | None
    right: str | None
    outcome: str | None
    outcome_as: Literal["auto", "label", "word", "number", "selected"] | None
    annotator: str | None
    count: str | None
    by: str | None
    input_format: Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None
    delimiter: str | None
    on_error: Literal["stop", "skip"] | None
    method: Literal[
        "l2",
        "ridge",
        "hlasso",
        "lasso-l2",
        "lbi",
        "iss",
        "iht",
        "ilts",
        "pc-lasso",
    ] | None
    outliers: str | int | None
    seed: int | None
    lambda_: float | None
    time: float | None
    kappa: float | None
    dt: float | None
    algorithm: Literal["2", "3", "4"] | int | None
    protocol: Literal["general", "paper"] | None
    ridge: float | None
    backend: Literal["auto", "dense", "sparse", "cg"] | None
    tolerance: float | None
    max_iterations: int | None
    output: str | os.PathLike[str] | None
    figures: str | os.PathLike[str] | None
    title: str | None


class SimulateOptions(TypedDict, total=False):
    """Options of ``simulate``."""

    items: int | None
    votes: int | None
    flips: float | str | None
    ties: float | str | None
    noise: Literal["none", "bradley-terry", "gaussian"] | None
    noise_scale: float | None
    sigma: float | None
    graded: bool | None
    annotators: Mapping[str, int] | str | None
    seed: int | None
    mark_bad: bool | None
