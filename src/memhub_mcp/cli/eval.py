"""`memhub-mcp eval retrieval DIR | abstain [DIR] | hints [DIR] | own | runs`"""

import argparse
import json
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.cli.opening import settings_from
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, print_json
from memhub_mcp.errors import NotFound
from memhub_mcp.service.evaluation import Evaluation, abstain_report, hints_report, retrieval_report
from memhub_mcp.service.question_sets import OWN, QuestionSet, hint_set, read_set
from memhub_mcp.service.scoring import METRICS, compare, measure

_EPILOG = """\
retrieval DIR   rank the documents of DIR (turns.jsonl, questions.jsonl) for each question, gate and budget off
abstain [DIR]   whether questions without an answer get none, and those with one are not refused
hints [DIR]     whether requests bring up, unasked, the memory they bear on, and the others nothing
own             retrieval and abstain, on the set that ships with memhub
runs            the recorded runs"""


def run(words: list[str]) -> int:
    """Prints what was measured; progress goes to stderr, on a terminal only."""
    parser = verb_parser("eval", "Measure how well recall finds things.", as_json=True)
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", choices=("retrieval", "abstain", "hints", "own", "runs"))
    parser.add_argument("dir", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--record", metavar="NAME", help="keep this run under a name")
    parser.add_argument("--baseline", metavar="NAME", help="compare with a recorded run, question by question")
    args = parser.parse_intermixed_args(words)
    if args.what == "retrieval" and args.dir is None:
        parser.error("retrieval needs a DIR with turns.jsonl and questions.jsonl")
    report = _report(args)
    if args.json:
        print_json(report)
    else:
        _show(report)
    return 0


def _report(args: argparse.Namespace) -> dict[str, Any]:
    runs = settings_from(args).home / "eval"
    if args.what == "runs":
        return {"runs": [_read_run(path.stem, runs)["report"] for path in sorted(runs.glob("*.json"))]}
    baseline = _read_run(args.baseline, runs) if args.baseline else None
    questions = hint_set() if args.what == "hints" and args.dir is None else read_set(args.dir or OWN)
    with _laid_out(args, questions) as evaluation:
        if args.what == "abstain":
            return abstain_report(evaluation, questions)
        if args.what == "hints":
            return hints_report(evaluation, questions)
        rankings = list(evaluation.rank())
        report = retrieval_report(questions.name, rankings)
        if args.what == "own":
            report["abstain"] = abstain_report(evaluation, questions)
    per_question = {one.asked.id: measure(one.ranked, one.asked.evidence) for one in rankings}
    if baseline is not None:
        report["against"] = {"baseline": args.baseline, **compare(per_question, baseline["per_question"])}
    if args.record:
        runs.mkdir(parents=True, exist_ok=True)
        kept = {"report": {"name": args.record, **report}, "per_question": per_question}
        (runs / f"{Path(args.record).name}.json").write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
    return report


@contextmanager
def _laid_out(args: argparse.Namespace, questions: QuestionSet) -> Generator[Evaluation]:
    """The set in a data directory that is thrown away afterwards, at the time of its last document."""
    settings = settings_from(args)
    with tempfile.TemporaryDirectory(prefix="memhub-eval-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        models = settings.models_dir or settings.home / "models"
        apart = replace(settings, home=place / "home", models_dir=models, workspace=None, project_dir=None, cwd=place)
        hub = open_hub(apart, clock=lambda: questions.now)
        try:
            yield Evaluation(hub, questions, place / "workspaces", _progress)
        finally:
            hub.close()


def _read_run(name: str, runs: Path) -> dict[str, Any]:
    path = runs / f"{Path(name).name}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFound(f"there is no recorded run {name!r}; `memhub-mcp eval runs` lists them") from error


def _progress(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{what} {done:,} of {total:,}   ", end="" if done < total else "\n", file=sys.stderr, flush=True)


def _show(report: Mapping[str, Any]) -> None:
    page = Page()
    if "runs" in report:
        for one in report["runs"]:
            page.line(f"{one['name']}: {one['set']}, {one['questions']} questions, {_figures(one['metrics'])}")
        if not report["runs"]:
            page.line("no run is recorded; `memhub-mcp eval retrieval DIR --record NAME` keeps one")
        return
    if "metrics" in report:
        page.line(f"{report['set']}: {report['questions']} questions")
        page.line(f"{'all':18}{_figures(report['metrics'])}")
        for category, metrics in report["by_category"].items():
            page.line(f"{category[:17]:18}{_figures(metrics)}")
        cost = report["per_query"]
        page.line(f"a question: p50 {cost['p50_ms']} ms, p95 {cost['p95_ms']} ms, cpu {cost['cpu_ms']} ms")
        for name, found in report.get("against", {}).items():
            if name != "baseline":
                page.line(f"{name:12}{found['difference']:+.4f} [{found['low']:+.4f}, {found['high']:+.4f}]")
    if "noise" in report:
        page.line(f"{report['bearing']} requests bear on a memory, {report['useful']} of them bring it up")
        page.line(f"{report['others']} bear on none, {report['noise']} of them bring up something")
    abstain = report.get("abstain", report if "unanswerable" in report else None)
    if abstain:
        page.line(
            f"{abstain['unanswerable']} without an answer, {abstain['rightly_refused']} of them answered with nothing; "
            f"{abstain['answerable']} with one, {abstain['wrongly_refused']} of them refused"
        )


def _figures(metrics: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {metrics[name]:.3f}" for name in METRICS if name in metrics)
