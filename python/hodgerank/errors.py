"""What can go wrong. Texts are those of the command line."""

from __future__ import annotations


class HodgerankError(Exception):
    """Any failure of hodgerank: ``problem`` says what is wrong, ``help`` what to do about it."""

    def __init__(self, problem: str, help: str | None = None) -> None:
        super().__init__(problem, help)
        self.problem = problem
        self.help = help

    def __str__(self) -> str:
        return f"{self.problem}\nhelp: {self.help}" if self.help else self.problem


class InputError(HodgerankError, ValueError):
    """Votes that make no sense. Where one row is at fault, ``row`` (from 1) and ``column`` name it."""

    def __init__(
        self,
        problem: str,
        help: str | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(problem, help)
        self.row = row
        self.column = column


class UsageError(HodgerankError, ValueError):
    """Options that make no sense, or not together."""


class FileError(HodgerankError, OSError):
    """A file that cannot be opened or written."""


class UnanswerableError(HodgerankError):
    """The votes cannot answer the question (``require_connected``, ``strict``)."""


class SolverError(HodgerankError):
    """A solver broke down."""


class HodgerankWarning(UserWarning):
    """Something that changes how a result must be read."""
