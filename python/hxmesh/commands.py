"""The commands run, sweep, train and info: options as keyword arguments, the JSON as a dictionary."""
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any, Dict, List, Sequence, Union

from ._options import words


class CommandError(RuntimeError):
    """A command that failed: what it said, and its exit code."""

    def __init__(self, said: str, code: int) -> None:
        super().__init__(said or f"hxmesh ended with exit code {code}")
        self.code = code

    def __reduce__(self) -> Any:
        return CommandError, (str(self), self.code)


class Report(Dict[str, Any]):
    """The JSON of a command."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of one row. Keys of parts are as "latency_ns.p99"; lists are left out."""
        import pandas
        return pandas.json_normalize({k: v for k, v in self.items() if not isinstance(v, list)})


class Reports(List[Report]):
    """The JSON of a command that compares: one report for each fabric, or for each run of a sweep."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, a row for each."""
        import pandas
        return pandas.concat([report.to_pandas() for report in self], ignore_index=True)


def _show(lines: Any, kept: List[str], shown: bool) -> None:
    for line in lines:
        kept.append(line)
        if shown:
            print(line, end="", file=sys.stderr, flush=True)


def _call(verb: str, operands: Sequence[str], options: Dict[str, Any], progress: bool) -> Any:
    """Runs a command. Its progress goes to sys.stderr, which a notebook shows; Ctrl-C ends it."""
    program = os.environ.get("HXMESH") or "hxmesh"
    if "json" in options:
        raise CommandError("--json: the JSON is what the function returns", 2)
    line = [program, verb, *map(str, operands), *words(**options), "--json", "-"] + ([] if progress else ["--quiet"])
    try:
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError as error:
        raise CommandError(f"{program} is not there (install the package hxmesh, or name it by the variable HXMESH)",
                           127) from error
    said: List[str] = []
    reader = threading.Thread(target=_show, args=(process.stderr, said, progress))
    reader.start()
    try:
        text = process.stdout.read() if process.stdout else ""
        code = process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    finally:
        reader.join()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
    if code > 1 or not text:  # 1: the report says what was lost
        raise CommandError("".join(said).strip().removeprefix("hxmesh: error: "), code)
    found = json.loads(text)
    return Reports(map(Report, found)) if isinstance(found, list) else Report(found)


Fabrics = Union[str, Sequence[str]]


def _list(fabrics: Fabrics) -> Sequence[str]:
    return [fabrics] if isinstance(fabrics, str) else list(fabrics)


def run(fabric: str, *, progress: bool = False, clock: str = "virtual", **options: Any) -> Report:
    """`hxmesh run`: one fabric with traffic. run("4x4 Hx2Mesh", traffic="uniform", rate=0.3, duration="100us")"""
    return _call("run", [fabric], {"clock": clock, **options}, progress)


def sweep(fabrics: Fabrics, *, progress: bool = False, clock: str = "virtual", **options: Any) -> Reports:
    """`hxmesh sweep`: all combinations. An option's list is one word: rate="0.1,0.2,0.3" or rate="0.1..0.9/9"."""
    return _call("sweep", _list(fabrics), {"clock": clock, **options}, progress)


def train(fabric: str, model: str, *, progress: bool = False, **options: Any) -> Report:
    """`hxmesh train`: a model on a fabric, and with compare=[...] on others."""
    return _call("train", [fabric, model], options, progress)


def info(fabrics: Fabrics, **options: Any) -> Union[Report, Reports]:
    """`hxmesh info`: what a fabric is made of, costs, and can carry. Several are compared."""
    several = _list(fabrics)
    return _call("info", several, {**({"compare": True} if len(several) > 1 else {}), **options}, True)
