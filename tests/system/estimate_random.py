#!/usr/bin/env python3
"""estimate_random.py HXMESH COUNT [--seed N] [--table FILE] - random small jobs on small fabrics: the estimate of each
against its run packet by packet, and against a lower bound.

A job is one to three phases, of messages, collectives and computing. The bound is found here from the job and the links
that `hxmesh info --edges` lists, not by hxmesh's estimate. It is the longest of:

    a rank's computing
    the bytes that must leave a host, or come to one, over the rate of all its links; those of all hosts together
    of messages between two ranks: the bytes on a link that all shortest paths take, over its rate
    of messages between two ranks: bytes times links of the shortest path, over the rate of all links

Exits with 1 if an estimate is below its bound, or if fewer than the share --within of all are near their runs.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

FABRICS = ["2x2 Hx2Mesh", "4x4 Hx1Mesh", "2x1 Hx3Mesh", "torus 4x4", "mesh 4x4", "torus 4x2x2",
           "fat-tree hosts=16 radix=8 taper=2", "dragonfly a=4 p=2 h=2 groups=4", "slim-fly q=3", "mlfm h=3",
           "hyperx 4x4 p=1", "Ring(4)_FC(4)"]
GBPS = 400
NEAR = 0.05
KINDS = ["all-reduce", "all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "gather", "scatter",
         "all-to-all"]
GENERAL = {  # algorithms that groups of any size have, by kind
    "all-reduce": ["ring", "tree", "direct", "double-tree", "bruck"], "reduce-scatter": ["ring", "direct", "pairwise"],
    "all-gather": ["ring", "direct", "bruck"], "broadcast": ["tree", "chain", "double-tree"],
    "all-to-all": ["direct", "pairwise"]}


# ---- fabrics ----

class Fabric:
    """Hosts and links of one plane, as `hxmesh info --edges` writes them."""

    def __init__(self, hxmesh, spec, folder):
        path = os.path.join(folder, "edges.csv")
        subprocess.run([hxmesh, "info", spec, "--edges", path], check=True, stdout=subprocess.DEVNULL)
        self.spec = spec
        self.rate = {}  # bytes a second of a link, by its ends
        forwarding = []  # hosts that are routers too, by rank
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("forward "):
                    forwarding.append(line.split()[1])
                fields = line.strip().split(",")
                if len(fields) >= 3 and not line.startswith("#"):
                    for ends in ((fields[0], fields[1]), (fields[1], fields[0])):
                        more = float(fields[2] or GBPS) * 1e9 / 8
                        self.rate[ends] = self.rate.get(ends, 0) + more
        self.next = collections.defaultdict(list)
        for a, b in self.rate:
            self.next[a].append(b)
        ranks = forwarding or sorted((node for node in self.next if self.is_host(node)), key=self.place)
        self.rank = {host: rank for rank, host in enumerate(ranks)}
        self.hosts = sorted(ranks, key=self.place) if self.is_host(ranks[0]) else ranks  # of boards: by columns
        # Routes of boards are not all shortest paths by links, nor only these.
        self.has_paths = "Mesh" not in spec
        self.distances = {}

    @staticmethod
    def is_host(node):
        return node[0] == "a" and node[1].isdigit()

    @staticmethod
    def place(node):
        return tuple(int(part) for part in node[1:].split("."))

    def host_rate(self, host):
        """All links of a host."""
        return sum(self.rate[host, n] for n in self.next[host])

    def distance(self, start):
        """Links from a node to each other."""
        if start not in self.distances:
            found = {start: 0}
            queue = collections.deque([start])
            while queue:
                node = queue.popleft()
                for n in self.next[node]:
                    if n not in found:
                        found[n] = found[node] + 1
                        queue.append(n)
            self.distances[start] = found
        return self.distances[start]

    def forced(self, a, b):
        """Links that all shortest paths from a to b take: those that are alone at their distance."""
        from_a, from_b = self.distance(a), self.distance(b)
        at = collections.defaultdict(list)
        for (u, v) in self.rate:
            if from_a[u] + 1 + from_b[v] == from_a[b]:
                at[from_a[u]].append((u, v))
        return [links[0] for links in at.values() if len(links) == 1]


# ---- jobs ----

class Job:
    """A schedule as text, and what is needed for the bound."""

    def __init__(self, seed, fabric):
        self.random = random.Random(seed)
        self.ranks = self.random.choice([len(fabric.hosts)] * 2 + [self.random.randint(4, min(16, len(fabric.hosts)))])
        self.computing = [0] * self.ranks
        self.out, self.into = [0] * self.ranks, [0] * self.ranks
        self.total = 0  # bytes of all
        self.messages = []  # from, to, bytes
        self.what = []
        self.groups = {}
        self.lines = []
        for _ in range(self.random.randint(1, 3)):
            self.random.choice([self.collective] * 5 + [self.siblings] * 5 + [self.beside] * 3 + [
                self.incast, self.outcast, self.pairs, self.pairs, self.halo, self.all_pairs, self.pipeline,
                self.compute, self.overlap])()

    def size(self, least=256, most=2 << 20):
        return int(least * (most / least) ** self.random.random()) // 4 * 4

    def add(self, text):
        self.lines.append(text)

    def message(self, a, b, size):
        self.messages.append((a, b, size))
        self.out[a] += size
        self.into[b] += size
        self.total += size

    def compute(self):
        ns = self.size(1000, 50000)
        self.what.append("compute")
        self.add(f"  - {{compute: {ns} ns}}")
        for rank in range(self.ranks):
            self.computing[rank] += ns * 1e-9

    def divisor(self):
        divisors = [n for n in range(2, self.ranks + 1) if self.ranks % n == 0]
        return self.random.choice(divisors)

    def bound_collective(self, kind, members, size):
        """What each member must send and receive by any algorithm, and what all of them together must."""
        n = len(members)
        share, piece = size * (n - 1) / n, size / n
        for position, rank in enumerate(members):
            root = position == 0
            self.out[rank] += {"all-reduce": size, "reduce-scatter": share, "all-gather": piece, "all-to-all": share,
                               "broadcast": 0, "reduce": 0 if root else size, "gather": 0 if root else piece,
                               "scatter": share if root else 0}[kind]
            self.into[rank] += {"all-reduce": size, "reduce-scatter": piece, "all-gather": share, "all-to-all": share,
                                "broadcast": 0 if root else size, "reduce": size if root else 0,
                                "gather": share if root else 0, "scatter": 0 if root else piece}[kind]
        self.total += {"all-reduce": 2 * n * share, "gather": share, "scatter": share}.get(kind, n * share)

    def collective_text(self, group, size_of_group, stride, indent="  "):
        kind = self.random.choice(KINDS)
        size = self.size(4 * self.ranks, 4 << 20) // (4 * size_of_group) * 4 * size_of_group or 4 * size_of_group
        algorithm = self.random.choice(GENERAL[kind]) if kind in GENERAL and self.random.random() < 0.4 else "best"
        name = f"g{len(self.groups)}"
        self.groups[name] = f"{{size: {size_of_group}, stride: {stride}}}"
        self.what.append(f"{kind} {algorithm} {size} B of {size_of_group} stride {stride}")
        block = size_of_group * stride
        for first in range(self.ranks):
            if first % block < stride:
                self.bound_collective(kind, [first + i * stride for i in range(size_of_group)], size)
        return f"{indent}- {{collective: {kind}, bytes: {size}, group: {name}, algorithm: {algorithm}}}"

    def collective(self):
        self.add(self.collective_text("all", self.ranks, 1))

    def siblings(self):
        size = self.divisor()
        strides = [s for s in range(1, self.ranks // size + 1) if self.ranks // size % s == 0]
        self.add(self.collective_text("siblings", size, self.random.choice(strides)))

    def beside(self):
        """Rows and columns at once."""
        size = self.divisor()
        self.what.append("together:")
        self.add("  - together:")
        self.add(self.collective_text("row", size, 1, "      "))
        if size < self.ranks:
            self.add(self.collective_text("column", self.ranks // size, size, "      "))

    def incast(self):
        size, root = self.size(), self.random.randrange(self.ranks)
        senders = self.random.sample(range(self.ranks), self.random.randint(2, self.ranks - 1))
        self.what.append(f"incast of {size} B from {len(senders)}")
        self.send_all([(s, root, size) for s in senders if s != root])

    def outcast(self):
        size, root = self.size(), self.random.randrange(self.ranks)
        self.what.append(f"outcast of {size} B")
        self.send_all([(root, r, size) for r in range(self.ranks) if r != root])

    def pairs(self):
        self.what.append("random pairs")
        few = [self.size() for _ in range(2)]
        drawn = [self.random.sample(range(self.ranks), 2) for _ in range(self.random.randint(1, 2 * self.ranks))]
        self.send_all([(a, b, self.random.choice(few)) for a, b in drawn])

    def halo(self):
        size = self.size()
        self.what.append(f"halo of {size} B")
        self.send_all([(r, (r + d) % self.ranks, size) for r in range(self.ranks) for d in (1, -1)])

    def all_pairs(self):
        size = self.size(256, 128 << 10)
        self.what.append(f"all pairs of {size} B")
        self.send_all([(r, (r + d) % self.ranks, size) for d in range(1, self.ranks) for r in range(self.ranks)])

    def send_all(self, messages):
        self.add("  - together:")
        for i, (a, b, size) in enumerate(messages):
            self.message(a, b, size)
            self.add(f"      - {{send: {size}, to: {b}, ranks: {a}, tag: {i}}}")
            self.add(f"      - {{receive: {size}, from: {a}, ranks: {b}, tag: {i}}}")

    def pipeline(self):
        size, ns, batches = self.size(), self.size(1000, 20000), self.random.randint(1, 4)
        self.what.append(f"pipeline of {batches} x {size} B, {ns} ns")
        for batch in range(batches):
            self.add(f"  - {{receive: {size}, from: rank - 1, ranks: rank > 0, tag: {batch}}}")
            self.add(f"  - {{compute: {ns} ns}}")
            self.add(f"  - {{send: {size}, to: rank + 1, ranks: rank < ranks - 1, tag: {batch}}}")
            for rank in range(self.ranks):
                self.computing[rank] += ns * 1e-9
                if rank + 1 < self.ranks:
                    self.message(rank, rank + 1, size)

    def overlap(self):
        ns = self.size(1000, 50000)
        self.what.append(f"beside computing of {ns} ns:")
        self.add("  - together:")
        self.add(f"      - {{compute: {ns} ns}}")
        self.add(self.collective_text("all", self.ranks, 1, "      "))
        for rank in range(self.ranks):
            self.computing[rank] += ns * 1e-9

    def text(self):
        groups = ", ".join(f"{name}: {value}" for name, value in self.groups.items())
        return f"ranks: {self.ranks}\n" + (f"groups: {{{groups}}}\n" if groups else "") + "program:\n  - do:\n" + \
            "\n".join("    " + line for line in self.lines) + "\n"

    def bound(self, fabric, host):
        """Seconds that no network with these links can do without."""
        least = max(self.computing)
        for rank in range(self.ranks):
            least = max(least, max(self.out[rank], self.into[rank]) / fabric.host_rate(host[rank]))
        least = max(least, self.total / sum(fabric.host_rate(h) for h in host[:self.ranks]))
        work, load = 0, collections.Counter()
        for a, b, size in self.messages:
            work += size * fabric.distance(host[a])[host[b]]
            if fabric.has_paths:
                for link in fabric.forced(host[a], host[b]):
                    load[link] += size
        links = [size / fabric.rate[link] for link, size in load.items()]
        return max([least, work / sum(fabric.rate.values())] + links)


# ---- measuring ----

def measure(hxmesh, fabric, seed, folder):
    job = Job(seed, fabric)
    path, place = os.path.join(folder, "job.schedule.yaml"), os.path.join(folder, "place")
    host = fabric.hosts[:]
    how = job.random.choice(["columns", "columns", "random"])
    if how == "random":
        job.random.shuffle(host)
    with open(path, "w", encoding="utf-8") as file:
        file.write(job.text())
    with open(place, "w", encoding="utf-8") as file:
        file.write("".join("%d\n" % fabric.rank[h] for h in host[:job.ranks]))
    run = subprocess.run([hxmesh, "train", fabric.spec, path, "--place", place, "--workers", "1", "--quiet", "--json",
                          "-"], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{fabric.spec}, seed {seed}: {run.stderr}\n{job.text()}")
    found = json.loads(run.stdout)["fabrics"][0]
    return {"seed": seed, "fabric": fabric.spec, "ranks": job.ranks, "what": "; ".join(job.what), "placed": how,
            "run": found["run"]["iteration_seconds"], "estimate": found["estimate"]["iteration_seconds"],
            "bound": job.bound(fabric, host)}


def difference(row):
    return row["estimate"] / row["run"] - 1 if row["run"] else 0


def show(rows, file):
    print("| seed | fabric | job | ranks | packets, us | estimate, us | difference | bound, us |", file=file)
    print("|---|---|---|---|---|---|---|---|", file=file)
    for row in sorted(rows, key=lambda r: -abs(difference(r))):
        cells = [row["seed"], row["fabric"], f"{row['what']} ({row['placed']})", row["ranks"],
                 f"{row['run'] * 1e6:.2f}", f"{row['estimate'] * 1e6:.2f}", f"{difference(row) * 100:+.1f} %", f"{row['bound'] * 1e6:.2f}"]
        print("| " + " | ".join(map(str, cells)) + " |", file=file)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("hxmesh")
    arguments.add_argument("count", type=int)
    arguments.add_argument("--seed", type=int, default=1, help="of the first job; the next ones follow")
    arguments.add_argument("--within", type=float, default=0.9, help="share of the jobs that must be within 5 %%")
    arguments.add_argument("--table", help="file for a table of all, the worst first")
    arguments.add_argument("--text", action="store_true", help="print the first job, and end")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fabrics = [Fabric(asked.hxmesh, spec, folder) for spec in FABRICS]
        if asked.text:
            print(Job(asked.seed, fabrics[asked.seed % len(fabrics)]).text(), end="")
            return 0
        rows = [measure(asked.hxmesh, fabrics[seed % len(fabrics)], seed, folder)
                for seed in range(asked.seed, asked.seed + asked.count)]
    near = sum(abs(difference(row)) <= NEAR for row in rows)
    below = [row for row in rows if row["estimate"] < row["bound"] * (1 - 1e-9)]
    wrong = [row for row in rows if row["run"] < row["bound"] * (1 - 1e-9)]
    print(f"{near} of {len(rows)} within {NEAR * 100:.0f} %, {len(below)} below the bound, {len(wrong)} runs below it")
    if asked.table:
        with open(asked.table, "w", encoding="utf-8") as file:
            show(rows, file)
    for row in below + wrong:
        print(row)
    return int(bool(below or wrong) or near < asked.within * len(rows))


if __name__ == "__main__":
    sys.exit(main())
