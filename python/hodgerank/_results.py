"""The results of the commands."""

from __future__ import annotations

import html
import json
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, cast

import numpy as np

from . import _core, _html
from ._pandas import frame_of, has_pyarrow
from .errors import UsageError

JsonObject = dict[str, Any]
"""A part of the JSON document; docs/output.md explains its keys."""


class Frame:
    """A table that can be converted: ``to_arrow``, ``to_pandas``, ``to_polars``."""

    def _table(self) -> _core.ArrowTable:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Implements the Arrow PyCapsule interface, as in ``polars.DataFrame(result)``."""
        return self._table().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:
        """Returns a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self._table())

    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame``."""
        if has_pyarrow():
            return self.to_arrow().to_pandas()
        return frame_of(self._table())

    def to_polars(self) -> Any:
        """Returns a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self._table())


class Rows(Frame):
    """Rows of an input table, with all columns."""

    def __init__(self, table: _core.ArrowTable) -> None:
        self._rows = table

    def _table(self) -> _core.ArrowTable:
        return self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"


class Result(Frame):
    """The result of a command: a document and a table, both created on first use."""

    def __init__(self, document: _core.Document) -> None:
        self._core_document = document

    def _table(self) -> _core.ArrowTable:
        return self._core_document.table()

    @property
    def json(self) -> str:
        """The JSON document, identical to the output of the program with ``--format json``."""
        return self._core_document.json().decode()

    @cached_property
    def document(self) -> Any:
        """The JSON document as dictionaries and lists."""
        return json.loads(self._core_document.json())

    @cached_property
    def _brief(self) -> Any:
        """The document without the parts that take long to compute, such as tests of annotators."""
        return self.__dict__.get("document") or json.loads(self._core_document.brief_json())

    def _summary(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<hodgerank.{type(self).__name__}: {self._summary()}>"


class Studies(Result):
    """The result for one study, or with ``by`` for several."""

    @cached_property
    def studies(self) -> list[JsonObject]:
        """The results of each study; with ``by``, the key ``"by"`` has the value of the column."""
        return self._studies_of(self.document)

    @staticmethod
    def _studies_of(document: JsonObject) -> list[JsonObject]:
        return cast("list[JsonObject]", document.get("groups_by", [document]))

    @property
    def rejected(self) -> JsonObject:
        """Rows that were skipped (``on_error="skip"``)."""
        return cast(JsonObject, self._brief["rejected"])

    def _only(self, name: str) -> Any:
        """Returns a part of the document of the only study."""
        if "groups_by" in self._brief:
            raise UsageError(
                f"there is one {name} for each value of the by column",
                "use .studies, or the column `by` of .to_pandas()",
            )
        return self._brief.get(name)

    @property
    def input(self) -> JsonObject:
        """Counts of the input: rows, votes, items, annotators, components."""
        return cast(JsonObject, self._only("input"))

    def _counts(self) -> str:
        studies = self._studies_of(self._brief)
        items = sum(study["input"]["items"] for study in studies)
        votes = sum(study["input"]["comparisons"] for study in studies)
        several = f" in {len(studies)} studies" if "groups_by" in self._brief else ""
        return f"{items:,} items, {votes:,} votes{several}"


class _Flagging(Studies):
    """Attributes common to the results of commands that flag votes."""

    @property
    def method(self) -> JsonObject:
        """The method, its options and how it ended: the λ or time at which its path stopped, or what
        the model of ``bt`` or ``crowd`` estimates, such as ``lapse_rate``, ``prior`` and ``classes``."""
        return cast(JsonObject, self._only("method"))

    @property
    def outliers(self) -> JsonObject:
        """Number of flagged votes (``comparisons``) and their share of all votes (``fraction``)."""
        return cast(JsonObject, self._only("outliers"))

    @property
    def status(self) -> str:
        """How the computation ended: ``solved``, ``complete``, ``iteration-limit``, …"""
        return cast(str, self._only("status"))

    @property
    def warnings(self) -> list[str]:
        """Warnings that affect how the result should be read."""
        return cast("list[str]", self._only("warnings"))

    def _flagged(self) -> str:
        studies = self._studies_of(self._brief)
        flagged = sum(study["outliers"]["comparisons"] for study in studies)
        names = sorted({study["method"]["name"] for study in studies})
        return f"method {', '.join(names)}, {flagged:,} votes flagged"


class Ranking(_Flagging):
    """A ranking, best item first. The table has one row per item."""

    @property
    def rows(self) -> list[JsonObject]:
        """One row per item: rank, item, score, component and numbers of votes."""
        return cast("list[JsonObject]", self._only("ranking"))

    @property
    def items(self) -> list[str]:
        """The items, best first."""
        return [row["item"] for row in self.rows]

    @property
    def scores(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The scores of ``items``, in the same order."""
        return np.array([row["score"] for row in self.rows], dtype=np.float64)

    @property
    def ranks(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The ranks of ``items``. Ranks of different components cannot be compared."""
        return np.array([row["rank"] for row in self.rows], dtype=np.int64)

    @property
    def annotators(self) -> list[JsonObject] | None:
        """Statistics per annotator, most suspicious first; None if the votes have none."""
        self._only("annotators")  # refuses several studies
        return cast("list[JsonObject] | None", self.document.get("annotators"))

    @property
    def scale(self) -> JsonObject | None:
        """The Elo scale (``scale="elo"``); None if the scores are those of the method."""
        return cast("JsonObject | None", self._only("scale"))

    @property
    def changes(self) -> JsonObject | None:
        """Changes since an earlier ranking (``against``): ``items``, ``gone``, ``kendall``, …"""
        return cast("JsonObject | None", self._only("against"))

    def _summary(self) -> str:
        text = f"{self._counts()}, {self._flagged()}"
        if "groups_by" in self._brief:
            return text
        best = ", ".join(row["item"] for row in self.rows[:3])
        return f"{text}; best: {best}"

    def _repr_html_(self) -> str:
        parts = []
        for study in self._studies_of(self._brief):
            rows = study["ranking"]
            means = _component_means(rows)
            above = [row["score"] - means[row["component"]] for row in rows]
            largest = max(map(abs, above), default=0.0)
            decimals = 0 if "scale" in study else 4
            names = ("rank", "item", "score", "", "votes", "wins", "losses", "ties", "flagged")
            head = "".join(f"<th>{name}</th>" for name in names)
            body = "".join(
                f"<tr><td>{row['rank']}</td><td>{html.escape(row['item'])}</td>"
                f"<td>{row['score']:.{decimals}f}</td><td>{_html.bar(height, largest)}</td>"
                f"<td>{row['comparisons']:,}</td><td>{row['wins']:,}</td>"
                f"<td>{row['losses']:,}</td><td>{row['ties']:,}</td><td>{row['flagged']:,}</td></tr>"
                for row, height in zip(rows[: _html.MAX_ROWS], above)
            )
            by = f"<p><b>{html.escape(study['by'])}</b></p>" if "by" in study else ""
            more = len(rows) - _html.MAX_ROWS
            tail = f"<p>… and {more:,} more items</p>" if more > 0 else ""
            notes = "".join(f"<p>{html.escape(text)}</p>" for text in study["warnings"])
            parts.append(
                f"{by}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{tail}{notes}"
            )
        return f"<div><p>{html.escape(self._summary())}</p>{''.join(parts)}</div>"


def _component_means(rows: list[JsonObject]) -> dict[int, float]:
    """Returns the mean score of each component, where bars start."""
    scores: dict[int, list[float]] = {}
    for row in rows:
        scores.setdefault(row["component"], []).append(row["score"])
    return {component: sum(values) / len(values) for component, values in scores.items()}


class Outliers(_Flagging):
    """Votes, most suspicious first."""

    @property
    def rows(self) -> list[JsonObject]:
        """One row per vote or distinct vote (``per_group``), most suspicious first."""
        return [row for study in self.studies for row in study["votes"]]

    def _summary(self) -> str:
        return f"{len(self.rows):,} rows; {self._counts()}, {self._flagged()}"

    def _repr_html_(self) -> str:
        return _rows_html(self.rows, self._summary())


def _rows_html(rows: list[JsonObject], title: str) -> str:
    names = list(rows[0]) if rows else ["no rows"]
    values = ([row[name] for name in names] for row in rows)
    return _html.table(names, values, len(rows), title)


class Annotators(_Flagging):
    """Annotators, the most problematic first; or the votes of one of them (``explain``)."""

    @property
    def rows(self) -> list[JsonObject]:
        """One row per annotator, over all studies; with ``explain``, one row per vote."""
        if "annotators" in self.document:
            return cast("list[JsonObject]", self.document["annotators"])
        return [row for study in self.studies for row in study["evidence"]]

    def _summary(self) -> str:
        return f"{len(self.rows):,} rows; {self._counts()}, {self._flagged()}"

    def _repr_html_(self) -> str:
        return _rows_html(self.rows, self._summary())


class Cleaned(Frame):
    """The votes that are not flagged. ``flagged`` has the others; ``output`` is the file, if any."""

    def __init__(
        self,
        counts: tuple[int, int, int],
        kept: _core.ArrowTable | None = None,
        flagged: _core.ArrowTable | None = None,
        output: str | None = None,
    ) -> None:
        self.kept_rows, self.flagged_rows, self.flagged_votes = counts
        self.output = output
        self._kept = kept
        self._flagged = flagged

    def _table(self) -> _core.ArrowTable:
        return _in_memory(self._kept)

    @property
    def flagged(self) -> Rows:
        """The flagged rows, with all columns, the number of the row and the reason."""
        return Rows(_in_memory(self._flagged))

    def __repr__(self) -> str:
        return (
            f"<hodgerank.Cleaned: {self.kept_rows:,} rows kept, {self.flagged_rows:,} flagged rows "
            f"({self.flagged_votes:,} votes) removed>"
        )


def _in_memory(table: _core.ArrowTable | None) -> _core.ArrowTable:
    if table is None:
        raise UsageError("the cleaned votes are in a file", "read the file; .output is its name")
    return table


class Comparison(Result):
    """Results of several methods. The table has one row per method and item."""

    @property
    def comparisons(self) -> list[JsonObject]:
        """For each study: the items, and the ranks, scores and flagged votes of each method."""
        return cast("list[JsonObject]", self.document["comparisons"])

    @property
    def methods(self) -> list[str]:
        """The names of the methods, in the order requested."""
        return [method["name"] for method in self.comparisons[0]["methods"]]

    def kendall(self, study: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Returns the matrix of Kendall's τ between the methods."""
        return np.array(self.comparisons[study]["kendall"], dtype=np.float64)

    def _summary(self) -> str:
        items = sum(len(study["items"]) for study in self.comparisons)
        return f"{items:,} items by {', '.join(self.methods)}"

    def _repr_html_(self) -> str:
        parts = []
        for study in self.comparisons:
            methods = study["methods"]
            reference = next((m for m in methods if m["name"] == study["reference"]), methods[0])
            order = sorted(range(len(study["items"])), key=lambda i: reference["ranks"][i])
            rows = ([study["items"][i], *(m["ranks"][i] for m in methods)] for i in order)
            names = ["item", *(m["name"] for m in methods)]
            parts.append(_html.table(names, rows, len(order), study.get("by", "ranks")))
        return "".join(parts)


class Certificate(Studies):
    """The smallest sets that were found whose removal changes the result. The table has their members."""

    @property
    def rankings(self) -> list[JsonObject]:
        """The robust and the plain ranking, each with its sets of votes and annotators."""
        return cast("list[JsonObject]", self._only("rankings"))

    def _summary(self) -> str:
        return self._counts()

    def _repr_html_(self) -> str:
        rows = [
            [
                study.get("by", "all votes"),
                ranking["ranking"],
                ", ".join(ranking["result"]),
                ranking["votes"].get("removed"),
                ranking.get("annotators", {}).get("removed"),
            ]
            for study in self.studies
            for ranking in study["rankings"]
        ]
        names = ["study", "ranking", "result", "votes", "annotators"]
        return _html.table(names, rows, len(rows), "smallest sets found that change the result")


class Predictions(Studies):
    """Predicted votes. The table has one row per pair; with ``matrix`` one row per item, and with
    ``holdout`` the calibration of the predictions."""

    @property
    def predictions(self) -> list[JsonObject]:
        """For each pair: ``left``, ``right``, the ``probability`` that a careful annotator prefers left,
        ``crowd_probability`` that one of those who voted does, the ends ``low`` and ``high`` of the interval
        of the first, and ``expected_outcome``."""
        return cast("list[JsonObject]", self._only("predictions"))

    @property
    def matrix(self) -> JsonObject:
        """With ``matrix=True``: ``items``, and ``probabilities`` by row and column."""
        return cast("JsonObject", self._only("matrix"))

    @property
    def holdout(self) -> JsonObject:
        """With ``holdout``: log loss, Brier score, accuracy and calibration on the votes held out."""
        return cast("JsonObject", self._only("holdout"))

    @property
    def svg(self) -> list[str]:
        """With ``holdout``: charts of the calibration as SVG, one per study."""
        return self._core_document.figures()

    def _summary(self) -> str:
        return self._counts()

    def _repr_html_(self) -> str:
        parts = []
        for study in self._studies_of(self._brief):
            if "holdout" in study:
                names = ["from", "to", "votes", "mean_prediction", "preferred_left"]
                listed = study["holdout"]["calibration"]
            elif "matrix" in study:
                names = ["item", *study["matrix"]["items"]]
                matrix = zip(study["matrix"]["items"], study["matrix"]["probabilities"])
                listed = [[item, *row] for item, row in matrix]
            else:
                names = [
                    "left",
                    "right",
                    "probability",
                    "crowd_probability",
                    "low",
                    "high",
                    "expected_outcome",
                ]
                listed = study["predictions"]
            in_order = (row if "matrix" in study else [row[name] for name in names] for row in listed)
            title = study.get("by", "predictions")
            parts.append(_html.table(names, in_order, len(listed), title))
        parts += [f"<div>{svg}</div>" for svg in self.svg[:10]]
        return "".join(parts)


class Decomposition(Studies):
    """The Hodge decomposition of the votes. The table has the flows on each compared pair."""

    @property
    def energy(self) -> float:
        """The total energy, Σ w y² over all distinct votes."""
        return cast(float, self._only("energy"))

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the energy: ``bicycles``, ``gradient``, ``curl``, ``harmonic``."""
        return cast("dict[str, float]", self._only("shares"))

    @property
    def triangles(self) -> list[JsonObject]:
        """The triangles whose majorities form a cycle, those with the most energy first."""
        return cast("list[JsonObject]", self._only("triangles"))

    @property
    def loops(self) -> list[JsonObject]:
        """The strongest harmonic loops."""
        return cast("list[JsonObject]", self._only("loops"))

    @property
    def transitivity(self) -> JsonObject:
        """The transitivity satisfaction rate and the counts behind it."""
        return cast(JsonObject, self._only("transitivity"))

    def _summary(self) -> str:
        if "groups_by" in self.document:
            return self._counts()
        shares = ", ".join(f"{name} {100 * share:.1f}%" for name, share in self.shares.items())
        return f"{self._counts()}; {shares}"

    def _repr_html_(self) -> str:
        rows = [
            [study.get("by", "all votes"), *study["shares"].values(), study["transitivity"]["rate"]]
            for study in self.studies
        ]
        names = ["study", "bicycles", "gradient", "curl", "harmonic", "transitivity"]
        return _html.table(names, rows, len(rows), "shares of energy")


class Diagnosis(Studies):
    """Whether the votes are sufficient to rank and to find bad votes. The table has all figures."""

    @property
    def verdict(self) -> JsonObject:
        """The conclusion: ``can_rank``, ``can_find_outliers``, ``findings``, ``advice``."""
        return cast(JsonObject, self._only("verdict"))

    @property
    def can_rank(self) -> bool:
        """Whether all items can be ranked together."""
        return cast(bool, self.verdict["can_rank"])

    @property
    def can_find_outliers(self) -> bool:
        """Whether bad votes can be found."""
        return cast(bool, self.verdict["can_find_outliers"])

    @property
    def findings(self) -> list[str]:
        """The findings, as sentences."""
        return cast("list[str]", self.verdict["findings"])

    @property
    def advice(self) -> list[str]:
        """Recommendations, as sentences."""
        return cast("list[str]", self.verdict["advice"])

    @property
    def design(self) -> JsonObject:
        """Figures of the comparison graph: items, pairs, density, components, …"""
        return cast(JsonObject, self._only("design"))

    def _summary(self) -> str:
        def describe(study: JsonObject) -> str:
            verdict = study["verdict"]
            rank = "can rank" if verdict["can_rank"] else "cannot rank"
            find = "can find" if verdict["can_find_outliers"] else "cannot find"
            return f"{rank}, {find} bad votes"

        verdicts = sorted({describe(study) for study in self.studies})
        return f"{self._counts()}; {'; '.join(verdicts)}"

    def _repr_html_(self) -> str:
        parts = []
        for study in self.studies:
            verdict = study["verdict"]
            points = "".join(f"<li>{html.escape(text)}</li>" for text in verdict["findings"])
            advice = "".join(f"<li>{html.escape(text)}</li>" for text in verdict["advice"])
            by = f"<p><b>{html.escape(study['by'])}</b></p>" if "by" in study else ""
            parts.append(f"{by}<ul>{points}</ul>{'<p>Advice</p><ul>' + advice + '</ul>' if advice else ''}")
        return f"<div><p>{html.escape(self._summary())}</p>{''.join(parts)}</div>"


class Path(Result):
    """The path from "no vote flagged" to "many". The table lists scores or events."""

    @property
    def studies(self) -> list[JsonObject]:
        """The path of each study: ``parameter``, ``status``, ``lines``."""
        return self.document if isinstance(self.document, list) else [self.document]

    @property
    def parameter(self) -> str:
        """The parameter of the path: ``lambda`` or ``time``."""
        return cast(str, self.studies[0]["parameter"])

    @property
    def status(self) -> str:
        """How the path ended."""
        return cast(str, self.studies[0]["status"])

    @cached_property
    def svg(self) -> list[str]:
        """Charts of the scores along the path as SVG, one per study."""
        return self._core_document.figures()

    def _summary(self) -> str:
        lines = sum(len(study["lines"]) for study in self.studies)
        return f"{lines:,} lines along {self.parameter}, ended {self.status}"

    def _repr_html_(self) -> str:
        return "".join(f"<div>{svg}</div>" for svg in self.svg[:10])


class Report:
    """A report that was written to ``path``."""

    def __init__(self, path: str) -> None:
        self.path = FilePath(path)

    @property
    def html(self) -> str:
        """The HTML of the report."""
        return self.path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"<hodgerank.Report: {self.path}>"

    def _repr_html_(self) -> str:
        place = html.escape(str(self.path), quote=True)
        return f'<p>Report: <a href="{place}" target="_blank">{place}</a></p>'


class Simulation(Rows):
    """A simulated study: its votes as a table, and the true scores (``truth``)."""

    def __init__(
        self, table: _core.ArrowTable, items: list[str], truth: list[float], bad_votes: int
    ) -> None:
        super().__init__(table)
        self.items = items
        self.truth = dict(zip(items, truth))
        self.bad_votes = bad_votes

    def __repr__(self) -> str:
        return (
            f"<hodgerank.Simulation: {len(self):,} votes on {len(self.items):,} items, "
            f"{self.bad_votes:,} of them bad>"
        )
