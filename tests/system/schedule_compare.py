#!/usr/bin/env python3
"""schedule_compare.py PROGRAM FIRST COUNT - random schedules: `PROGRAM --estimate` against schedule_oracle.py.

PROGRAM: build/hxmesh-schedule. Begin and end of every operation must be equal to the picosecond. Prints each difference
with the options that repeat it; exits with 1 if there is one. Each message takes some time: else a whole exchange happens
at one time, and its order is nowhere defined.
"""
import argparse
import contextlib
import io
import random
import subprocess
import sys
import tempfile
import types

import schedule_oracle
import schedule_random


def has_ties(seed):
    return seed % 3 == 2


def draw_text(seed):
    draw = schedule_random.Draw(seed, has_ties(seed))
    draw.operations(draw.random.randint(5, 80))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        draw.print()
    return text.getvalue()


def draw_costs(seed):
    """LogGOPS parameters, ps and bytes."""
    drawn = random.Random(seed)
    costs = types.SimpleNamespace(latency=drawn.choice([1000, 37000, 1500000]), byte=drawn.choice([0, 10, 2.5]),
                                  overhead=drawn.choice([0, 0, 700000]), overhead_byte=drawn.choice([0, 0, 3]),
                                  eager=drawn.choice([1 << 62, 1 << 62, 100, 0]))
    if has_ties(seed) and costs.overhead == 0:
        costs.byte = 0  # which of several messages of one time is first is nowhere defined
    return costs


def options(costs):
    rate = f"{8000 / costs.byte}" if costs.byte else "0"
    eager = ["--eager", str(costs.eager)] if costs.eager < 1 << 62 else []
    return ["--latency", f"{costs.latency // 1000}ns", "--link-rate", rate, "--overhead",
            f"{costs.overhead // 1000}ns", "--overhead-byte", str(costs.overhead_byte)] + eager


def by_program(program, path, costs):
    done = subprocess.run([program, path, "--estimate", "--operations", "-"] + options(costs), capture_output=True,
                          text=True, check=False)
    return {tuple(map(int, line.split(",")[:4])) for line in done.stdout.splitlines()[1:]}


def by_oracle(text, costs):
    ranks = schedule_oracle.read_goal(text)
    schedule_oracle.Run(ranks, costs).run()
    return {(o.rank, o.number, o.begin, o.end) for operations in ranks for o in operations if o.end is not None}


def main():
    arguments = argparse.ArgumentParser(description="random schedules on an ideal network, by two programs")
    arguments.add_argument("program")
    arguments.add_argument("first", type=int)
    arguments.add_argument("count", type=int)
    asked = arguments.parse_args()
    different = 0
    for seed in range(asked.first, asked.first + asked.count):
        text, costs = draw_text(seed), draw_costs(seed)
        with tempfile.NamedTemporaryFile("w", suffix=".goal") as file:
            file.write(text)
            file.flush()
            ours, theirs = by_program(asked.program, file.name, costs), by_oracle(text, costs)
        if not theirs or ours != theirs:
            different += 1
            print(f"seed {seed}: {' '.join(options(costs))}: {sorted(ours ^ theirs)[:4]}")
    print(f"{asked.count} schedules, {different} differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
