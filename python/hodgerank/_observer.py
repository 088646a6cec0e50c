"""Receives messages, warnings and progress while a command runs."""

from __future__ import annotations

import logging
import sys
import warnings
from types import TracebackType
from typing import Any, Callable, Union

from .errors import HodgerankWarning

Progress = Union[bool, Callable[[str, int, int], object]]
"""``True`` for a progress bar, or a function that is called with the name of the current step, the
bytes read so far and the total number of bytes (0 if unknown)."""

_log = logging.getLogger("hodgerank")


class Observer:
    """Sends warnings to ``warnings``, messages to ``logging`` and progress to a bar or function.

    The core calls ``note``, ``warn`` and ``step``.
    """

    def __init__(self, progress: Progress = False) -> None:
        self._show: Callable[[str, int, int], object] | None = None
        self._bar: _Bar | None = None
        if callable(progress):
            self._show = progress
        elif progress:
            self._bar = _Bar()
            self._show = self._bar.step

    def __enter__(self) -> Observer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def note(self, text: str) -> None:
        _log.info(text)

    def warn(self, text: str) -> None:
        warnings.warn(text, HodgerankWarning, stacklevel=5)

    def step(self, name: str, done: int, total: int) -> None:
        if self._show is not None:
            self._show(name, done, total)


class _Bar:
    """A tqdm progress bar per step; without tqdm, a line on standard error."""

    def __init__(self) -> None:
        self._name: str | None = None
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._tqdm: Any = None
        else:
            self._tqdm = tqdm

    def step(self, name: str, done: int, total: int) -> None:
        if name != self._name:
            self.close()
            self._name = name
            if self._tqdm is None:
                print(f"hodgerank: {name}", file=sys.stderr, flush=True)
            else:
                self._bar = self._tqdm(
                    desc=name, total=total or None, unit="B", unit_scale=True, leave=False
                )
        if self._bar is not None:
            self._bar.n = done
            self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
