#!/usr/bin/env python3
"""plan_packets.py - the best layout of `hxmesh plan` against runs of many layouts with packets.

Three small jobs, each on another fabric. Some 40 layouts of each, drawn from all that divide it, run with packets. The
plan may choose among these and all others; its best layout must be within SHARE of the shortest run.

    tests/system/plan_packets.py build/hxmesh [--layouts 40] [--share 0.03] [--seed 1]
"""
import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

BLOCKS = """
layers:
  - repeat: 6
    layers:
      - name: attention
        parameters: 4 * hidden * hidden
        activations: sequence * hidden
        context: 2 * sequence * hidden
        products: [{m: sequence, n: 4 * hidden, k: hidden}]
        saved: 8 * sequence * hidden
        saved_whole: 4 * sequence * hidden
        shard: columns
      - name: mlp
        parameters: 8 * hidden * hidden
        activations: sequence * hidden
        products: [{m: sequence, n: 4 * hidden, k: hidden}, {m: sequence, n: hidden, k: 4 * hidden, divided: k}]
        saved: 10 * sequence * hidden
        saved_whole: 4 * sequence * hidden
        shard: columns
"""
EXPERTS = """
layers:
  - repeat: 4
    layers:
      - name: attention
        parameters: 4 * hidden * hidden
        activations: sequence * hidden
        products: [{m: sequence, n: 4 * hidden, k: hidden}]
        saved: 12 * sequence * hidden
      - name: experts
        parameters: 16 * 8 * hidden * hidden
        activations: sequence * hidden
        routed: 2 * sequence * hidden
        products: [{m: 2 * sequence, n: 8 * hidden, k: hidden}]
        saved: 20 * sequence * hidden
        shard: experts
"""


def head(memory, tflops, parallelism, samples, hidden, sequence):
    return (f"model: job\nvalues: {{hidden: {hidden}, sequence: {sequence}}}\nsamples: {samples}\ntokens: sequence\n"
            f"accelerator: {{flops: {tflops} TFLOPS, efficiency: 0.5, memory: {memory}}}\n"
            f"parallelism: {{{parallelism}}}\n")


JOBS = [
    ("2x2 Hx2Mesh", 16, head("80MB", 60, "data: 16", 32, 512, 256) + BLOCKS),
    ("fat-tree hosts=8", 8, head("1GB", 20, "data: 8", 16, 384, 512) + BLOCKS),
    ("torus 4x2", 8, head("400MB", 40, "data: 8, expert: 8", 32, 256, 256) + EXPERTS),
]
KEYS = ["tensor", "context", "data", "pipeline", "expert", "chunks", "batch", "zero", "recompute"]


def plan(hxmesh, model, fabric, only, *options):
    """Returns the plan as JSON, or None if no layout fits or divides."""
    command = [hxmesh, "plan", model, fabric, "--quiet", "--json", "-", *options]
    for key, value in only.items():
        command += ["--only", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)}: {done.returncode} {done.stderr}")
    return json.loads(done.stdout)["fabrics"][0] if done.returncode == 0 else None


def layouts(ranks, seed):
    """All tuples of values whose axes have these ranks, in a random order."""
    degrees = [d for d in range(1, ranks + 1) if ranks % d == 0]
    axes = [a for a in itertools.product(degrees, repeat=4) if a[0] * a[1] * a[2] * a[3] == ranks]
    rest = itertools.product([1, 2, 4, 8], [1, 2, 3], [1, 2, 4], [0, 1, 2, 3], ["false", "true"])
    every = list(itertools.product(axes, list(rest)))
    random.Random(seed).shuffle(every)
    return [dict(zip(KEYS, a + r)) for a, r in every]


def check(arguments, fabric, ranks, text):
    """Returns whether the plan's best is near the shortest run."""
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "job.model.yaml")
        with open(model, "w", encoding="utf-8") as file:
            file.write(text)
        best = plan(arguments.hxmesh, model, fabric, {}, "--confirm", "1")["results"][0]
        shortest, which, runs = best["confirmed_seconds"], best["layout"], 0
        for only in layouts(ranks, arguments.seed):
            if runs == arguments.layouts:
                break
            found = plan(arguments.hxmesh, model, fabric, only, "--confirm", "1", "--estimates", "1")
            if not found:
                continue
            runs += 1
            seconds = found["results"][0]["confirmed_seconds"]
            if seconds < shortest:
                shortest, which = seconds, found["results"][0]["layout"]
    ratio = best["confirmed_seconds"] / shortest
    print(f"{fabric}: {runs} runs; planned {best['confirmed_seconds'] * 1e3:.3f} ms, shortest {shortest * 1e3:.3f} ms"
          f" ({ratio:.4f}), estimate {100 * (best['iteration_seconds'] / best['confirmed_seconds'] - 1):+.1f} %")
    if ratio > 1 + arguments.share:
        print(f"    planned  {best['layout']}\n    shortest {which}")
    return ratio <= 1 + arguments.share


def main():
    """Checks all jobs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("hxmesh")
    parser.add_argument("--layouts", type=int, default=40)
    parser.add_argument("--share", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    good = [check(arguments, *job) for job in JOBS]
    sys.exit(0 if all(good) else 1)


main()
