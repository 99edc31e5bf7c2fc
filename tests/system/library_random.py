#!/usr/bin/env python3
"""Random runs through libhxmesh-sim and through the program: the same times, to the picosecond.

    library_random.py HXMESH FIRST_SEED COUNT

Of each kind in turn: traffic and schedules that the fabric runs by itself, with faults and planes, whose reports are to
be equal; messages that answer each other, as a schedule of the program and as posted messages; collectives. HXMESH_LIBRARY
names the library, PYTHONPATH the package. What one of both refuses, the other refuses by the same words. Prints a line for each difference, and exits 1 if there is one.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import hxmesh

FABRICS = ["2x2 Hx2Mesh", "4x2 Hx1Mesh", "3x3 Hx2Mesh", "torus 4x4", "fat-tree hosts=16 taper=2", "Ring(4)_FC(4)",
           "Ring(4)_FC(4) gbps=400,100", "slim-fly q=5", "dragonfly a=4 p=2 h=2", "2x3 H2x4Mesh"]


def program(hxmesh_program, fabric, options):
    """The report; of a run that is refused, what is said."""
    command = [hxmesh_program, "run", fabric, "--clock", "virtual", "--quiet", "--json", "-"] + options
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    return json.loads(ended.stdout) if ended.stdout else ended.stderr.strip().removeprefix("hxmesh: error: ")


def as_keywords(options):
    """--name value pairs as keyword arguments; a name may come again."""
    found = {}
    for name, value in zip(options[::2], options[1::2]):
        found.setdefault(name[2:].replace("-", "_"), []).append(value)
    return found


def comparable(report):
    """Without what depends on the machine and the command line."""
    return {k: v for k, v in report.items() if k != "host"}


def network(rng):
    options = ["--planes", str(rng.choice([1, 1, 2, 4])), "--seed", str(rng.randrange(1000))]
    return options + (["--train", "4"] if rng.random() < 0.2 else [])


def by_itself(rng, hxmesh_program, folder):
    """Traffic that a fabric runs: reports are equal."""
    fabric = rng.choice(FABRICS)
    options = network(rng)
    kind = rng.choice(["pattern", "rate", "collective", "schedule", "faults"])
    if kind == "pattern":
        options += ["--traffic", rng.choice(["all-to-all", "uniform", "permutation", "incast", "bit-reverse"]),
                    "--message", str(rng.randrange(1, 100000))]
    elif kind == "rate":
        options += ["--traffic", "uniform", "--rate", str(rng.uniform(0.05, 0.6)), "--duration", "8us"]
    elif kind == "collective":
        options += ["--traffic", rng.choice(["all-reduce", "all-gather", "broadcast", "barrier"])]
        options += [] if options[-1] == "barrier" else ["--message", str(4 * rng.randrange(1, 50000))]
    elif kind == "schedule":
        path = os.path.join(folder, "x.schedule.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"ranks: 8\nprogram:\n  - repeat: {rng.randrange(1, 5)}\n    do:\n"
                      f"      - {{compute: {rng.randrange(1, 9)} us}}\n"
                      f"      - {{collective: all-reduce, bytes: {4 * rng.randrange(1, 99999)}}}\n"
                      f"      - together:\n          - {{send: {rng.randrange(1, 99999)}, to: (rank + 3) % ranks}}\n"
                      "          - {receive: 0, from: (rank - 3) % ranks}\n")
        options += ["--traffic", path]
    else:
        options = [o for o in options if o not in ("--train", "4")]
        options += ["--traffic", "all-to-all", "--message", "64KiB", "--failures", str(rng.randrange(1, 3)),
                    "--fault", f"all loss={rng.uniform(0, 2):.2f}% at 1us"]
    expected = program(hxmesh_program, fabric, options)
    if isinstance(expected, str):
        try:
            hxmesh.Fabric(fabric, **as_keywords(options)).close()
        except hxmesh.SimulationError as error:
            return f"{fabric} {options}: {expected}, {error}", expected == str(error)
        return f"{fabric} {options}: {expected}", False
    with hxmesh.Fabric(fabric, **as_keywords(options)) as f:
        for _ in range(rng.randrange(3)):  # stops in between change nothing
            f.next(f.now + rng.randrange(1, 20_000_000))
        f.run()
        found = f.report()
    return f"{fabric} {options}", comparable(expected) == comparable(found)


def chains(rng, hosts):
    """Messages, and for each those that its receiver sends when it has come."""
    lines = []
    for _ in range(rng.randrange(1, 12)):
        rank, line = rng.randrange(hosts), []
        for _ in range(rng.randrange(1, 9)):
            to = (rank + rng.randrange(1, hosts)) % hosts
            line.append((rank, to, rng.randrange(0, 200_000)))
            rank = to
        lines.append(line)
    return lines


def answers(rng, hxmesh_program, folder):
    """Chains of messages: the arrivals of a GOAL schedule, and those of posted messages."""
    fabric = rng.choice(FABRICS)
    options = network(rng)
    with hxmesh.Fabric(fabric) as f:
        hosts = f.hosts
    lines = chains(rng, hosts)
    operations = [[] for _ in range(hosts)]
    for line, messages in enumerate(lines):
        for step, (source, destination, size) in enumerate(messages):
            tag = line * 16 + step
            name = f"s{tag}"
            after = f"r{tag - 1}" if step else None
            operations[source].append((f"{name}: send {size}b to {destination} tag {tag}",
                                       f"{name} requires {after}" if after else None))
            operations[destination].append((f"r{tag}: recv {size}b from {source} tag {tag}", None))
    path = os.path.join(folder, "x.goal")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"num_ranks {hosts}\n")
        for rank, own in enumerate(operations):
            out.write(f"rank {rank} {{\n" + "".join(o + "\n" for o, _ in own) +
                      "".join(a + "\n" for _, a in own if a) + "}\n")
    expected = program(hxmesh_program, fabric, options + ["--traffic", path, "--sends", "shared"])
    with hxmesh.Fabric(fabric, **as_keywords(options)) as f:
        for line, messages in enumerate(lines):
            f.send(*messages[0], cookie=(line, 0))
        last = 0
        for event in f.events():
            if event.type is not hxmesh.EventType.DELIVERED:
                continue
            last = event.time
            line, step = event.cookie
            if step + 1 < len(lines[line]):
                f.send(*lines[line][step + 1], cookie=(line, step + 1))
        found = f.report()
    same = round(expected["schedule"][0]["seconds"] * 1e12) == last and all(
        expected[k] == found[k] for k in ("packets_sent", "packet_hops", "seconds", "latency_ns", "links", "stalls"))
    return f"{fabric} {options} {lines}", same


def collective(rng, hxmesh_program, folder):
    """A collective of all hosts, of a schedule and posted."""
    fabric = rng.choice(FABRICS)
    options = network(rng)
    kind = rng.choice(["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all", "barrier"])
    algorithm = rng.choice(["best", "bruck"]) if kind in ("all-reduce", "all-gather") else "best"
    with hxmesh.Fabric(fabric, **as_keywords(options)) as f:
        group = rng.sample(range(f.hosts), rng.randrange(2, min(f.hosts, 40) + 1))
        size = 0 if kind == "barrier" else 4 * len(group) * rng.randrange(1, 3000)
        path = os.path.join(folder, "x.schedule.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"ranks: {f.hosts}\ngroups: {{g: {group}}}\nprogram:\n  - ranks: {group}\n    do:\n"
                      f"      - {{collective: {kind}, group: g, algorithm: {algorithm}" +
                      (f", bytes: {size}" if size else "") + "}\n")
        f.collective(kind, group, size, algorithm)
        last = max(event.time for event in f.events())
        found = f.report()
    expected = program(hxmesh_program, fabric, options + ["--traffic", path])
    same = round(expected["schedule"][0]["seconds"] * 1e12) == last and all(
        expected[k] == found[k] for k in ("packets_sent", "packet_hops", "seconds", "latency_ns", "links", "stalls"))
    return f"{fabric} {options} {kind} {size} {algorithm} {group}", same


def main():
    hxmesh_program, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bad = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        kind = (by_itself, answers, by_itself, collective)[seed % 4]
        with tempfile.TemporaryDirectory() as folder:
            try:
                what, same = kind(rng, hxmesh_program, folder)
            except Exception as error:  # a run that only one of both refuses is a difference
                what, same = repr(error), False
        if not same:
            bad += 1
            print(f"seed {seed}, {kind.__name__}: {what}")
    print(f"{count} runs, {bad} differ")
    sys.exit(bad > 0)


main()
