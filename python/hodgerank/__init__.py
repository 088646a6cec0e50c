"""Robust ranking from pairwise votes.

>>> import hodgerank
>>> hodgerank.rank([("cat", "dog"), ("dog", "cow"), ("cat", "cow")]).items
['cat', 'dog', 'cow']
"""

import atexit as _atexit

from . import _core
from ._commands import (
    annotators,
    certify,
    clean,
    compare,
    decompose,
    diagnose,
    outliers,
    path,
    predict,
    rank,
    report,
    simulate,
)
from ._ranker import RobustRanker
from ._results import (
    Annotators,
    Certificate,
    Cleaned,
    Comparison,
    Decomposition,
    Diagnosis,
    Outliers,
    Path,
    Predictions,
    Ranking,
    Report,
    Rows,
    Simulation,
)
from .errors import (
    FileError,
    HodgerankError,
    HodgerankWarning,
    InputError,
    SolverError,
    UnanswerableError,
    UsageError,
)

__all__ = [
    "Annotators",
    "Certificate",
    "Cleaned",
    "Comparison",
    "Decomposition",
    "Diagnosis",
    "FileError",
    "HodgerankError",
    "HodgerankWarning",
    "InputError",
    "Outliers",
    "Path",
    "Predictions",
    "Ranking",
    "Report",
    "RobustRanker",
    "Rows",
    "Simulation",
    "SolverError",
    "UnanswerableError",
    "UsageError",
    "__version__",
    "annotators",
    "certify",
    "clean",
    "compare",
    "decompose",
    "diagnose",
    "outliers",
    "path",
    "predict",
    "rank",
    "report",
    "simulate",
]

__version__: str = _core.VERSION

# After Ctrl-C, a command may still be writing when the interpreter ends.
_atexit.register(_core.remove_unfinished)
