#!/usr/bin/env python3
"""collective_sample.py HXMESH [--cases N] [--seed S] - random collectives on random small fabrics: `--algorithm best`
against every algorithm that the hosts have, under the virtual clock.

A case is a fabric of up to 150 hosts, a kind, a vector of 1 KiB to 8 MiB, one, two or four planes, and all hosts or
groups beside each other. It prints the worst cases, and the shares within 1 % and 10 % of the fastest. Case n of a seed
is the same whatever N is. Exits with 1 if a smaller share than --least is within 10 %.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import collective_runs as runs

KINDS = ["all-reduce", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "gather", "scatter",
         "total-exchange", "barrier"]
MOST_HOSTS = 150
LEAST_BYTES, MOST_BYTES = 1 << 10, 8 << 20


# ---- fabrics ----

def sides(draw, count, most):
    return "x".join(str(draw.randint(2, most)) for _ in range(count))


def hammingmesh(draw):
    board = draw.choice([1, 2, 2, 3, 4])
    if draw.random() < 0.3:
        return f"{draw.randint(1, 5)}x{draw.randint(1, 5)} H{board}x{draw.randint(1, 4)}Mesh"
    return f"{draw.randint(1, 6)}x{draw.randint(1, 6)} Hx{board}Mesh"


def fat_tree(draw):
    taper = draw.choice(["", "", " taper=2", " taper=3"])
    return f"fat-tree hosts={draw.randint(4, 128)} radix={draw.choice([8, 16, 32])}{taper}"


def grid(draw):
    count = draw.choice([1, 2, 2, 3, 3, 4])
    most = {1: 40, 2: 12, 3: 5, 4: 3}[count]
    return f"{draw.choice(['torus', 'torus', 'mesh'])} {sides(draw, count, most)}"


def hyperx(draw):
    count = draw.choice([1, 2, 2, 3])
    return f"hyperx {sides(draw, count, {1: 16, 2: 8, 3: 4}[count])} p={draw.randint(1, 4)}"


def dimensions(draw):
    count = draw.randint(1, 3)
    kinds = [f"{draw.choice(['Ring', 'FC', 'Switch'])}({draw.randint(2, {1: 24, 2: 10, 3: 5}[count])})"
             for _ in range(count)]
    rates = [str(draw.choice([100, 200, 400])) for _ in kinds]
    return "_".join(kinds) + ("" if draw.random() < 0.6 else " gbps=" + ",".join(rates))


def dragonfly(draw):
    a, h = draw.randint(2, 6), draw.randint(1, 3)
    groups = f" groups={draw.randint(2, a * h + 1)}" if draw.random() < 0.6 else ""
    return f"dragonfly a={a} p={draw.randint(1, 4)} h={h}{groups}"


def graph(draw):
    """Switches in a random tree with some links more, one to three hosts on each."""
    switches = draw.randint(3, 16)
    links = {(draw.randrange(s), s) for s in range(1, switches)}
    links |= {tuple(sorted(draw.sample(range(switches), 2))) for _ in range(draw.randint(0, 2 * switches))}
    hosts = [(f"h{s}.{i}", f"s{s}") for s in range(switches) for i in range(draw.randint(1, 3))]
    lines = [f"host {host}" for host, _ in hosts] + [f"s{a},s{b}" for a, b in sorted(links)]
    return "graph", "\n".join(lines + [f"{host},{switch}" for host, switch in hosts]) + "\n"


FABRICS = [hammingmesh, hammingmesh, fat_tree, grid, grid, hyperx, dimensions, dimensions, dragonfly, dragonfly, graph,
           lambda d: f"mlfm h={d.randint(2, 4)}" + (f" p={d.randint(1, 3)}" if d.random() < 0.4 else ""),
           lambda d: f"oft k={d.choice([3, 4])}",
           lambda d: f"bigraph m={d.randint(1, 6)} n={2 * d.randint(1, 8)}",
           lambda d: f"kautz degree={d.randint(2, 4)} length=2 p={d.randint(1, 4)}",
           lambda d: f"slim-fly q={d.choice([3, 4, 5])} p={d.randint(1, 3)}"]


def hosts_of(hxmesh, spec):
    """0: no such fabric."""
    info = subprocess.run([hxmesh, "info", spec, "--json", "-"], capture_output=True, text=True,
                          check=False)
    return json.loads(info.stdout)["hosts"] if info.returncode == 0 else 0


# ---- cases ----

class Case:
    """A collective on a fabric, of all hosts or of groups."""

    def __init__(self, hxmesh, seed, number, folder):
        draw = random.Random(f"{seed}.{number}")
        self.hxmesh, self.number = hxmesh, number
        self.hosts = 0
        while not 4 <= self.hosts <= MOST_HOSTS:
            self.fabric = draw.choice(FABRICS)(draw)
            self.name = self.fabric if isinstance(self.fabric, str) else f"a random graph (case {number})"
            if not isinstance(self.fabric, str):
                path = os.path.join(folder, f"{number}.csv")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(self.fabric[1])
                self.fabric = f"graph {path}"
            self.hosts = hosts_of(self.hxmesh, self.fabric)
        self.kind = draw.choice(KINDS)
        self.planes = draw.choice([1, 1, 2, 4])
        self.group, self.stride = self.hosts, 1
        sizes = [n for n in range(2, self.hosts) if self.hosts % n == 0]
        if draw.random() < 0.4 and sizes:
            self.group = draw.choice(sizes)
            beside = self.hosts // self.group
            self.stride = draw.choice([n for n in range(1, beside + 1) if beside % n == 0])
        size = int(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** draw.random())
        unit = 4 * self.group if self.kind == "total-exchange" else 4
        self.size = 0 if self.kind == "barrier" else max(size // unit, 1) * unit
        self.schedule = os.path.join(folder, f"{number}.schedule.yaml")

    def words(self):
        groups = "all" if self.group == self.hosts else \
            f"{self.hosts // self.group} of {self.group}, stride {self.stride}"
        return [str(self.number), self.name, str(self.planes), groups, self.kind,
                runs.size_text(self.size) if self.size else "-"]

    def seconds(self, algorithm):
        if self.group == self.hosts:
            return runs.whole(self.hxmesh, self.fabric, self.kind, algorithm, self.size, self.planes)
        kind = "all-to-all" if self.kind == "total-exchange" else self.kind
        bytes_text = f", bytes: {self.size}" if self.size else ""
        with open(self.schedule, "w", encoding="utf-8") as file:
            file.write(f"ranks: {self.hosts}\ngroups: {{g: {{size: {self.group}, stride: {self.stride}}}}}\n"
                       f"program:\n  - {{collective: {kind}, group: g, algorithm: {algorithm}{bytes_text}}}\n")
        return runs.seconds(self.hxmesh, [self.fabric, "--traffic", self.schedule, "--planes", str(self.planes)])

    def measure(self):
        best = self.seconds("best")
        times = {algorithm: self.seconds(algorithm) for algorithm in runs.ALGORITHMS}
        times = {algorithm: time for algorithm, time in times.items() if time is not None}
        self.best = best
        self.chosen = next((a for a, time in times.items() if time == best), "another")
        self.fastest = min(times, key=times.get)
        self.least = times[self.fastest]
        self.longer = best / self.least - 1
        return self


HEAD = ["case", "fabric", "planes", "groups", "kind", "vector", "fastest", "us", "`best`", "us", "longer by"]


def row(case):
    return case.words() + [case.fastest, f"{case.least * 1e6:.2f}", case.chosen, f"{case.best * 1e6:.2f}",
                           f"{case.longer * 100:.1f} %"]


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hxmesh")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default: 0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planes", default="1,2,4", help="leave out cases with others (default: 1,2,4)")
    parser.add_argument("--worst", type=int, default=10, help="rows of the table of worst cases (default: 10)")
    parser.add_argument("--least", type=float, default=0.95, help="share that must be within 10 %% (default: 0.95)")
    parser.add_argument("--every", action="store_true", help="print each case too, as it is measured")
    asked = parser.parse_args()
    planes = {int(n) for n in asked.planes.split(",")}
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.first, asked.first + asked.cases):
            case = Case(asked.hxmesh, asked.seed, number, folder)
            if case.planes not in planes:
                continue
            cases.append(case.measure())
            if asked.every:
                print_row(row(cases[-1]))
    print_row(HEAD)
    print("|" + "---|" * len(HEAD))
    for case in sorted(cases, key=lambda c: -c.longer)[:asked.worst]:
        print_row(row(case))
    near = {share: sum(case.longer <= share for case in cases) for share in (0.01, 0.1)}
    mean = sum(case.longer for case in cases) / len(cases)
    print(f"{near[0.01]} of {len(cases)} within 1 %, {near[0.1]} within 10 %, mean {mean * 100:.2f} %")
    return int(near[0.1] < asked.least * len(cases))


if __name__ == "__main__":
    sys.exit(main())
