"""When memories were last shown: kept in the process, so that reading stays a read, and written with the next write."""

import threading
from collections.abc import Iterable, Mapping
from datetime import datetime

_MOST = 1_000


class Uses:
    """What one process showed of one store since its last write. Every thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: dict[int, datetime] = {}

    def note(self, seqs: Iterable[int], now: datetime) -> None:
        """These memories were shown now. Beyond a thousand the longest unshown are dropped."""
        with self._lock:
            for seq in seqs:
                self._shown.pop(seq, None)
                self._shown[seq] = now
            for seq in list(self._shown)[:-_MOST]:
                del self._shown[seq]

    @property
    def waiting(self) -> bool:
        """Whether there is something to write."""
        return bool(self._shown)

    def take(self) -> Mapping[datetime, list[int]]:
        """What is to be written, by moment; it counts as written."""
        with self._lock:
            shown, self._shown = self._shown, {}
        by_moment: dict[datetime, list[int]] = {}
        for seq, moment in shown.items():
            by_moment.setdefault(moment, []).append(seq)
        return by_moment

    def give_back(self, taken: Mapping[datetime, list[int]]) -> None:
        """It was not written after all. What was shown since counts more."""
        with self._lock:
            earlier = {seq: moment for moment, seqs in taken.items() for seq in seqs}
            self._shown = {seq: moment for seq, moment in earlier.items() if seq not in self._shown} | self._shown
