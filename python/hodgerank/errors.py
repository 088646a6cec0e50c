"""Exceptions. Their messages are those of the command line, with keywords in place of flags."""

from __future__ import annotations


class HodgerankError(Exception):
    """Base class of all errors: ``problem`` is the message, ``help`` says how to fix it."""

    def __init__(self, problem: str, help: str | None = None) -> None:
        super().__init__(problem, help)
        self.problem = problem
        self.help = help

    def __str__(self) -> str:
        return f"{self.problem}\nhelp: {self.help}" if self.help else self.problem


class InputError(HodgerankError, ValueError):
    """Invalid votes. If the error is in one row, ``row`` (from 1) and ``column`` locate it."""

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
    """Invalid options, or options that cannot be combined."""


class FileError(HodgerankError, OSError):
    """A file cannot be opened or written."""


class UnanswerableError(HodgerankError):
    """The votes cannot answer the question (``require_connected``, ``strict``)."""


class SolverError(HodgerankError):
    """A solver failed numerically."""


class HodgerankWarning(UserWarning):
    """A condition that affects how a result should be read."""
