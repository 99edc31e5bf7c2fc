#!/usr/bin/env python3
"""faults_reach.py HXMESH [--cases N] [--seed S] [--fabric SPEC] [--singles] - which pairs deliver with dead links.

A graph of the living links, built here from the names of a healthy run's links, says which pairs are joined. Each
pair exchanges a message. Exactly the joined pairs must deliver, and each run must end. With
--times parts die, and some return, while messages travel: pairs joined all the time must deliver.
"""
import argparse
import itertools
import json
import random
import re
import subprocess
import sys

FABRICS = ["4x4 Hx2Mesh", "3x2 H2x4Mesh", "2x2 Hx4Mesh", "6x3 Hx1Mesh", "3x3 H1x2Mesh", "8x1 Hx2Mesh", "2x5 H3x2Mesh",
           "8x8 Hx1Mesh radix=8", "fat-tree hosts=32 radix=8", "torus 4x4", "torus 3x3x2", "mesh 4x3", "hyperx 3x3 p=2",
           "dragonfly a=4 p=2 h=2", "slim-fly q=3 p=2", "bigraph m=4 n=8", "Ring(4)_FC(4)_Switch(2)",
           "kautz degree=2 length=3 p=2", "mlfm h=3"]
LARGER = ["8x8 Hx2Mesh", "6x6 Hx2Mesh", "4x4 Hx4Mesh", "5x3 H4x2Mesh", "14x11 Hx1Mesh", "12x3 Hx2Mesh", "9x3 H2x3Mesh",
          "9x6 H1x3Mesh", "7x7 Hx2Mesh radix=8", "12x12 Hx1Mesh radix=8", "fat-tree hosts=128 radix=16", "torus 12x12",
          "torus 6x5x4", "mesh 10x8", "hyperx 6x5 p=4", "dragonfly a=6 p=3 h=2", "slim-fly q=5 p=3", "bigraph m=8 n=16",
          "Ring(6)_FC(5)_Switch(4)", "mlfm h=5"]


def run(args, spec, faults, *more):
    name, *options = spec.split(" radix=") if "Mesh" in spec else [spec]
    command = [args.hxmesh, "run", name, *(["--radix", options[0]] if options else []), *([] if args.live else ["--clock", "virtual"]), "--quiet",
               "--json", "-", "--fault", faults, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"code {done.returncode}: {' '.join(map(repr, command))}\n{done.stderr}")
    return command, json.loads(done.stdout)


class Fabric:
    def __init__(self, args, spec):
        self.spec = spec
        hosts = run(args, spec, "all up", "--traffic", "permutation", "--message", "64")[1]["accelerators"]
        self.traffic = ["--traffic", "total-exchange", "--message", str(hosts * args.message)]
        report = run(args, spec, "all up", *self.traffic)[1]
        links = {frozenset((link["from"], link["to"])) for link in report["links"]}
        self.links = sorted(tuple(sorted(link)) for link in links)
        self.uplinks = max([int(end.rsplit("/up")[-1]) + 1 for link in self.links for end in link if "/leaf" in end], default=0)
        self.routers = {}
        self.routers = {self.node_of(a): self.node_of(b) for a, b in self.links if a.endswith("/trace")}
        self.hosts = report["accelerators"]
        self.report = report

    def node_of(self, end):
        """The node of an end. Where a host has a trace to its router, its other links are the router's. The hosts' ports
        of a line's tree are numbered through its leaves, which have as many of them as uplinks."""
        end = re.sub(r"/p0", "", end)
        place = re.sub(r"/[^/]*$", "", end)
        if self.uplinks and re.match(r"(row|col)\d+/\d+$", end):
            return f"{place}/leaf{int(end.rsplit('/')[-1]) // self.uplinks}"
        return self.routers.get(place, place) if not end.endswith("/trace") else place


    def parts(self, kind):
        """Each part of a kind by its name in faults, and its links."""
        if kind == "links":
            return {link[0].replace("/p0", ""): [link] for link in self.links}
        of = {}
        for link in self.links:
            for end in link:
                node = re.sub(r"/.*", "", re.sub(r"/p0", "", end)) if end.startswith("a") else self.node_of(end)
                part = self.board_of(node) if kind == "boards" else node
                if part:
                    of.setdefault(part, set()).add(link)
        return of

    def board_of(self, node):
        """The board of an accelerator of a HammingMesh; None: of another node or fabric."""
        sides = re.match(r"\d+x\d+ H(?:(\d+)x(\d+)|x(\d+))Mesh", self.spec)
        at = re.match(r"a(\d+),(\d+)", node)
        if not sides or not at:
            return None
        columns, rows = (int(sides[i] or sides[3]) for i in (1, 2))
        return f"board{int(at[1]) // columns},{int(at[2]) // rows}"


def components(fabric, dead):
    of = {}

    def root(node):
        while of.setdefault(node, node) != node:
            node = of[node]
        return node
    for link in fabric.links:
        a, b = (root(fabric.node_of(end)) for end in link)
        if link not in dead:
            of[a] = b
    return {node: root(node) for node in list(of)}


def pairs_joined(fabric, dead):
    of = components(fabric, dead)
    hosts = [node for node in of if re.match(r"a\d", node)]
    return {(a, b) for a, b in itertools.permutations(hosts, 2) if of[a] == of[b]}


def drawn(draw, parts):
    return draw.sample(list(parts), draw.randint(1, min(8, len(parts))))


def line(draw, name, times, unit):
    """A fault of a part: from the start and for good, or at a time, two of three for some time."""
    text = name + " down"
    if not times:
        return text
    text += f" at {draw.randint(0, times)}{unit}"
    return text + (f" for {draw.randint(1, times)}{unit}" if draw.random() < 2 / 3 else "")


def without_host(report):
    return {key: value for key, value in report.items() if key != "host"}


def validate(args, fabric, dead, faults):
    """Returns what is wrong with a run; None: nothing."""
    joined = len(pairs_joined(fabric, set(dead)))
    command, report = run(args, fabric.spec, faults, "--no-links", *fabric.traffic, "-w", "1")
    got = report["messages"]
    ended = got + report["messages_failed"]  # both, if a message arrived and no path was left for its answer
    if got < joined or ended < report["messages_begun"] or (not args.times and (got, ended) != (joined, report["messages_begun"])):
        return f"{joined} of {fabric.hosts * (fabric.hosts - 1)} joined, {got} delivered: {' '.join(map(repr, command))}"
    for workers in (["-w", "2"], ["--mpi", "2"]) if args.equal else ():
        command, other = run(args, fabric.spec, faults, "--no-links", *fabric.traffic, *workers)
        if without_host(other) != without_host(report):
            return f"differs from -w 1: {' '.join(map(repr, command))}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hxmesh")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fabric")
    parser.add_argument("--message", type=int, default=64, help="bytes for each pair")
    parser.add_argument("--larger", action="store_true", help="the fabrics of 80 to 256 hosts")
    parser.add_argument("--singles", choices=["links", "nodes", "boards"], help="each alone instead of random sets of links")
    parser.add_argument("--times", type=int, default=0, help="us, live ms: faults begin and end within such times")
    parser.add_argument("--equal", action="store_true", help="compare with two workers, and two ranks of MPI")
    parser.add_argument("--live", action="store_true", help="live, instead of under the virtual clock")
    args = parser.parse_args()
    bad = 0
    for i, spec in enumerate([args.fabric] if args.fabric else LARGER if args.larger else FABRICS):
        fabric = Fabric(args, spec)
        draw = random.Random(args.seed * 1000 + i)
        parts = fabric.parts(args.singles or "links")
        for names in [[name] for name in parts] if args.singles else [drawn(draw, parts) for _ in range(args.cases)]:
            faults = ";".join(line(draw, name, args.times, "ms" if args.live else "us") for name in names)
            wrong = validate(args, fabric, itertools.chain(*(parts[name] for name in names)), faults)
            if wrong:
                bad += 1
                print(f"{spec}: {wrong}", flush=True)
        print(f"{spec}: {len(parts) if args.singles else args.cases} sets of {len(fabric.links)} links", flush=True)
    sys.exit(bad > 0)


main()
