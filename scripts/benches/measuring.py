"""Clocks and sentences that the benches share."""

import os
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

try:
    import resource
except ImportError:  # Windows
    resource = None

THINGS = [
    "login form",
    "billing job",
    "search index",
    "mobile client",
    "release script",
    "image cache",
    "job queue",
    "mail sender",
    "audit log",
    "feature flags",
    "report page",
    "token store",
    "upload path",
    "rate limit",
]
FACTS = [
    "The {thing} keeps its settings in conf/{word}_{n}.toml and reads them once at start.",
    "We call retry_{word}_{n}() in the {thing} because the upstream answers 503 during its nightly restart.",
    "Error E{n} in the {thing} means that the clock of the {word} host is behind; restart ntp there.",
    "The {thing} must not be deployed while migration {n} runs: it locks the {word} table for minutes.",
    "For the {thing} we chose {word} over the older library, which leaked handles after {n} requests.",
    "Tests of the {thing} need the flag --{word}-{n}, otherwise they talk to the shared database.",
]
QUESTIONS = [
    "where are the settings of the {thing}",
    "why does the {thing} try again",
    "what does error E{n} mean",
    "when may the {thing} not be deployed",
    "which library did we choose for the {thing}",
    "how do I run the tests of the {thing}",
]
WORDS = ["amber", "basalt", "cedar", "dune", "ember", "fjord", "grove", "harbor", "island", "juniper", "kelp", "lagoon"]


def sentences(count: int, seed: int = 1) -> list[str]:
    """`count` distinct coding memories."""
    chance = random.Random(seed)
    return [
        chance.choice(FACTS).format(thing=chance.choice(THINGS), word=chance.choice(WORDS), n=1_000 + number)
        for number in range(count)
    ]


def questions(count: int, memories: int, seed: int = 2) -> list[str]:
    """`count` questions, half of them about one number that occurs."""
    chance = random.Random(seed)
    return [
        chance.choice(QUESTIONS).format(thing=chance.choice(THINGS), n=1_000 + chance.randrange(memories))
        for _ in range(count)
    ]


@dataclass(slots=True)
class Laps:
    """Wall and CPU time of one kind of call."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def time(self, call: Callable[[], object]) -> None:
        """Run `call` once and keep its times; CPU counts every thread of this process."""
        cpu, wall = time.process_time(), time.perf_counter()
        call()
        self.wall_s.append(time.perf_counter() - wall)
        self.cpu_s.append(time.process_time() - cpu)

    def row(self) -> dict[str, object]:
        """p50 and p95 in ms, CPU a call in ms."""
        return {
            "calls": len(self.wall_s),
            "p50 ms": round(self.p50_ms, 2),
            "p95 ms": round(1e3 * quantile(self.wall_s, 0.95), 2),
            "CPU ms/call": round(1e3 * sum(self.cpu_s) / len(self.cpu_s), 2),
        }

    @property
    def p50_ms(self) -> float:
        """The middle wall time."""
        return 1e3 * quantile(self.wall_s, 0.5)


def children_cpu_s() -> float:
    """CPU seconds of all child processes that have ended."""
    if resource is None:  # a clock that ticks every 10 ms or so
        times = os.times()
        return times.children_user + times.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quantile(values: Iterable[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
