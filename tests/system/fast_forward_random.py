#!/usr/bin/env python3
"""Random jobs with and without --fast-forward.

Times and exposed times of purposes are to differ by less than 1 % of the whole time, links, by the time for which they
are busy, by less than 1 % of the busiest. Where contention decides the order of packets, a job amplifies any change, and
packets choose among equal paths by chance. So what differs more is compared with runs of all packets with a jitter of
0.01 to 0.2 % of computing times. Times are to lie within nine such runs, and 1 % beside. Links are to lie within four
standard deviations of 21 of them, and 1 % beside; by 3 %, within the 21. With `wide` all are to lie within the four
standard deviations.

    fast_forward_random.py HXMESH FIRST_SEED COUNT [wide]

`wide` has also four planes, mixed rates, failed boards, and two jobs side by side. Prints a line for each job that
differs more, and at the end the worst of all. Exits 1 if there is one.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

FABRICS = [("2x2 Hx2Mesh", []), ("4x2 Hx2Mesh", []), ("4x4 Hx1Mesh", []), ("2x2 Hx2Mesh", ["--planes", "2"]),
           ("torus 4x4", []), ("fat-tree hosts=16", []), ("2x3 Hx2Mesh", ["--taper", "2"]),
           ("4x1 H2x4Mesh", []), ("Ring(4)_FC(4)", []), ("slim-fly q=5", [])]
WIDE = [("2x2 Hx2Mesh", ["--planes", "4"]), ("Ring(4)_FC(4) gbps=400,100", []), ("dragonfly a=4 p=2 h=2", [])]
# Two jobs side by side, on boards; a board failed in the file.
SHARED = [("4x4 Hx2Mesh", ["2x2", "2x2"]), ("4x4 Hx2Mesh", ["3x2", "2x2"]), ("4x4 Hx1Mesh", ["4x2", "2x2"]),
          ("fabric: 4x4 Hx2Mesh\nfailed_boards: [[1, 1]]\n", ["2x2", "3x1"]), ("fat-tree hosts=32 taper=2", ["16", "16"])]
MOST, MOST_OF_LINKS = 0.01, 0.03
KINDS = ["all-reduce", "all-gather", "reduce-scatter", "all-to-all"]
ALGORITHMS = {"all-reduce": ["best", "ring", "halving", "bruck", "direct"], "all-gather": ["best", "ring", "bruck"],
              "reduce-scatter": ["best", "ring", "direct"], "all-to-all": ["best", "pairwise"]}


def hosts_of(hxmesh, fabric, settings):
    out = subprocess.run([hxmesh, "info", fabric, "--json", "-"] + settings, capture_output=True, text=True, check=True)
    report = json.loads(out.stdout)
    return report.get("accelerators") or report["hosts"]


def statement(rng, size, stride):
    """A collective of the groups of a stride, alike for all of them."""
    kind = rng.choice(KINDS)
    group = f"{{size: {size}, stride: {stride}}}"
    volume = rng.choice([256, 1024, 4096]) * 1024
    return (f"{{collective: {kind}, bytes: {volume}, group: {group}, algorithm: {rng.choice(ALGORITHMS[kind])}, "
            f"purpose: {'tensor' if stride == 1 else 'data'}}}")


def compute(rng, ranks):
    """The same for all ranks, or a little more for some."""
    each = rng.choice([20, 100, 400])
    spread = rng.choice([0, 0, 1, 7])
    return f'{{compute: "{each} us + {spread} us * (rank % {rng.randrange(1, ranks + 1)}) / {ranks}"}}'


def job(rng, hosts):
    inner = rng.choice([s for s in (2, 4, 8) if hosts % s == 0 and s <= hosts])
    outer = hosts // inner
    lines = [f"ranks: {hosts}", "program:", f"  - repeat: {rng.randrange(8, 30)}", "    do:"]
    for _ in range(rng.randrange(1, 4)):
        lines.append(f"      - {compute(rng, hosts)}")
        lines.append(f"      - {statement(rng, inner, 1)}")
    if outer > 1 and rng.random() < 0.6:
        beside = ", after: []" if rng.random() < 0.5 else ""
        lines.append("      - " + statement(rng, outer, inner)[:-1] + beside + "}")
    if rng.random() < 0.5:
        volume = rng.choice([64, 512]) * 1024
        lines.append("      - together:")
        lines.append(f"          - {{send: {volume}, to: (rank + {inner}) % ranks, purpose: pipeline}}")
        lines.append(f"          - {{receive: {volume}, from: (rank - {inner}) % ranks, purpose: pipeline}}")
    return "\n".join(lines) + "\n"


def run(hxmesh, fabric, options):
    command = [hxmesh, "run", fabric, "--clock", "virtual", "--workers", "1", "--quiet", "--json", "-"]
    out = subprocess.run(command + options, capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{' '.join(command + options)}: {out.returncode}: {out.stderr}")
    return json.loads(out.stdout)


def busy_of(report):
    """Seconds that each link is busy."""
    return [link["busy"] * report["virtual_seconds"] for link in report["links"]]


def figures(report):
    """What is compared, by kind and name, and the whole of which a difference is a share."""
    found = {}
    for number, schedule in enumerate(report["schedule"]):
        whole = schedule["seconds"]
        found["time", number] = whole, whole
        for p in schedule["purposes"]:
            found["exposed", number, p["purpose"]] = p["exposed_seconds"]["mean"], whole
            found["bytes", number, p["purpose"]] = p["bytes"], p["bytes"]
    busy = busy_of(report)
    for link, seconds in zip(report["links"], busy):
        found["links", link["from"]] = seconds, max(busy)
    return found


def with_jitter(hxmesh, fabric, options):
    """Runs of all packets with a small jitter: what chance does."""
    if "--jitter" in options:
        options = options[:options.index("--jitter")]
    return [figures(run(hxmesh, fabric, options + ["--jitter", jitter, "--seed", str(seed)]))
            for seed in range(1, 8) for jitter in ("0.0001", "0.001", "0.002")]


def by_chance(by, links, wide, differences):
    """The least and the most that chance explains, of what runs with jitter differ by."""
    if links and not wide and by > MOST_OF_LINKS:
        return min(0, *differences), max(0, *differences)
    if not links and not wide:
        return min(0, *differences[:9]) - MOST, max(0, *differences[:9]) + MOST
    mean, deviation = statistics.mean([0] + differences), statistics.stdev([0] + differences)
    return min(0, mean - 4 * deviation) - MOST, max(0, mean + 4 * deviation) + MOST


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def accelerators(size):
    """Of a job on boards of 2x2, or of hosts."""
    if "x" not in size:
        return int(size)
    columns, rows = size.split("x")
    return int(columns) * int(rows)


def drawn(rng, hxmesh, folder, wide):
    """A fabric, and options of its job or jobs."""
    if wide and rng.random() < 0.2:
        fabric, sizes = rng.choice(SHARED)
        each = 4 if "Hx2Mesh" in fabric else 1
        options = []
        for name, size in zip("ab", sizes):
            path = write(folder, name + ".schedule.yaml", job(rng, each * accelerators(size)))
            options += ["--job", f"{name}: {size} {path}"]
        return write(folder, "x.hxm.yaml", fabric) if "\n" in fabric else fabric, options
    fabric, settings = rng.choice(FABRICS + (WIDE if wide else []))
    text = job(rng, hosts_of(hxmesh, fabric, settings))
    return fabric, settings + ["--traffic", write(folder, "x.schedule.yaml", text)]


def main():
    hxmesh, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wide = sys.argv[4:] == ["wide"]
    worst, failed, left_out, beyond = {}, 0, [], 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            fabric, options = drawn(rng, hxmesh, folder, wide)
            options += ["--jitter", "0.02"] if rng.random() < 0.15 else []
            full = run(hxmesh, fabric, options)
            fast = run(hxmesh, fabric, options + ["--fast-forward", "1%"])
            left_out.append(1 - fast["fast_forward"]["simulated_share"])
            chances, found = [], figures(fast)
            for what, (value, whole) in figures(full).items():
                by = (found[what][0] - value) / whole
                worst[what[0]] = max(worst.get(what[0], (0, 0)), (abs(by), seed))
                if abs(by) <= MOST:
                    continue
                chances = chances or with_jitter(hxmesh, fabric, options)
                differences = [(c[what][0] - value) / whole for c in chances]
                least, most = by_chance(abs(by), what[0] == "links", wide, differences)
                if not least <= by <= most:
                    failed += 1
                    print(f"seed {seed}, {fabric}: {what} differs by {100 * by:.2f} %, " +
                          f"chance by {100 * least:.2f} to {100 * most:.2f} %")
            beyond += bool(chances)
    print(f"{beyond} jobs differ by more than {100 * MOST:.0f} %, those above by more than chance")
    print(f"left out {100 * sum(left_out) / len(left_out):.0f} % of the packets; worst: " +
          ", ".join(f"{k} {100 * v[0]:.3f} % (seed {v[1]})" for k, v in sorted(worst.items())))
    sys.exit(failed > 0)


main()
