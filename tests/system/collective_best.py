#!/usr/bin/env python3
"""collective_best.py BUILD [--kept FILE] [--most BYTES] - the tables of docs/collectives.md: all-reduces by all
algorithms on eight fabrics under the virtual clock, against their estimates. collective_sample.py draws cases at random.

BUILD: build, with `make all bench-programs` done. FILE keeps the measured times, so that a second call continues.
"""
import argparse
import json
import os
import subprocess

import collective_runs as runs

FABRICS = ["4x4 Hx2Mesh", "8x8 Hx1Mesh", "torus 8x8", "fat-tree hosts=64 radix=16", "hyperx 8x8 p=1", "slim-fly q=5 p=2",
           "Ring(4)_FC(4)_Switch(4)", "bigraph m=4 n=16"]
NEAR = 1.25  # of the fastest: an algorithm whose estimate matters to the choice


def estimate(build, fabric, sizes):
    lines = subprocess.run([f"{build}/bench/bench_choice", "--estimate", fabric] + [str(size) for size in sizes],
                           capture_output=True, text=True, check=True).stdout.split("\n")
    words = [line.split() for line in lines if line]
    seconds = {(int(w[0]), w[1]): float(w[2]) for w in words if w[1] != "best"}
    return seconds, {int(w[0]): w[2] for w in words if w[1] == "best"}


class Kept:
    def __init__(self, build, name):
        self.build = build
        self.name = name
        self.seconds = {}
        if name and os.path.exists(name):
            with open(name, encoding="utf-8") as file:
                self.seconds = json.load(file)

    def get(self, fabric, algorithm, size):
        key = f"{fabric}|{algorithm}|{size}"
        if key not in self.seconds:
            self.seconds[key] = runs.whole(f"{self.build}/hxmesh", fabric, "all-reduce", algorithm, size)
            if self.name:
                with open(self.name, "w", encoding="utf-8") as file:
                    json.dump(self.seconds, file)
        return self.seconds[key]


def print_best(rows):
    print("| fabric | size | fastest | us | `best` | us | longer by | estimate |")
    print("|---|---|---|---|---|---|---|---|")
    for fabric, size, times, seconds, chosen in rows:
        fastest = min(times, key=times.get)
        print(f"| {fabric} | {runs.size_text(size)} | {fastest} | {times[fastest] * 1e6:.2f} | {chosen} | "
              f"{times[chosen] * 1e6:.2f} | {times[chosen] / times[fastest] * 100 - 100:.0f} % | "
              f"{seconds[size, chosen] * 1e6:.2f} |")


def print_errors(rows):
    """Estimates against measured times: of all runs, and of those that are near the fastest."""
    errors, near = {}, {}
    for _, size, times, seconds, _ in rows:
        for algorithm, time in times.items():
            error = seconds[size, algorithm] / time * 100 - 100
            errors.setdefault(algorithm, []).append(error)
            if time <= NEAR * min(times.values()):
                near.setdefault(algorithm, []).append(error)
    print("| algorithm | runs | median error | within 10 % | runs near the fastest | least | most |")
    print("|---|---|---|---|---|---|---|")
    for algorithm, all_errors in errors.items():
        sizes = sorted(abs(error) for error in all_errors)
        close = sum(error <= 10 for error in sizes) / len(sizes) * 100
        few = near.get(algorithm, [])
        span = f"{min(few):+.0f} % | {max(few):+.0f} %" if few else "- | -"
        print(f"| {algorithm} | {len(sizes)} | {sizes[len(sizes) // 2]:.0f} % | {close:.0f} % | {len(few)} | {span} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--kept")
    parser.add_argument("--most", type=int, default=1 << 24, help="bytes of the largest vector (default: 16 MiB)")
    options = parser.parse_args()
    kept = Kept(options.build, options.kept)
    sizes = [1 << bit for bit in range(10, options.most.bit_length(), 2)]
    rows = []
    for fabric in FABRICS:
        seconds, chosen = estimate(options.build, fabric, sizes)
        for size in sizes:
            algorithms = [algorithm for at, algorithm in seconds if at == size]
            times = {algorithm: kept.get(fabric, algorithm, size) for algorithm in algorithms}
            rows.append((fabric, size, {a: time for a, time in times.items() if time}, seconds, chosen[size]))
    print_best(rows)
    print()
    print_errors(rows)


if __name__ == "__main__":
    main()
