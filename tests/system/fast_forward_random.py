#!/usr/bin/env python3
"""Random jobs with and without --fast-forward: times and exposed times are to differ by less than 1 %, links by 3 %.

Where contention decides the order of packets, a job amplifies any change. What differs more is then to lie within what
a jitter of 0.1 % of computing times does, and 1 % beside. Packets choose among equal paths by chance, so links of two
runs differ, too.

    fast_forward_random.py HXMESH FIRST_SEED COUNT

Prints a line for each job that differs more, and at the end the worst of all. Exits 1 if there is one.
"""
import json
import random
import subprocess
import sys
import tempfile

FABRICS = [("2x2 Hx2Mesh", []), ("4x2 Hx2Mesh", []), ("4x4 Hx1Mesh", []), ("2x2 Hx2Mesh", ["--planes", "2"]),
           ("torus 4x4", []), ("fat-tree hosts=16", []), ("2x3 Hx2Mesh", ["--taper", "2"]),
           ("4x1 H2x4Mesh", []), ("Ring(4)_FC(4)", []), ("slim-fly q=5", [])]
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


def run(hxmesh, fabric, path, options):
    command = [hxmesh, "run", fabric, "--clock", "virtual", "--traffic", path, "--workers", "1", "--quiet", "--json", "-"]
    out = subprocess.run(command + options, capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{' '.join(command + options)}: {out.returncode}: {out.stderr}")
    return json.loads(out.stdout)


def busy_of(report):
    """Seconds that each link is busy."""
    return [link["busy"] * report["virtual_seconds"] for link in report["links"]]


def differences(full, fast):
    a, b = full["schedule"][0], fast["schedule"][0]
    yield "time", abs(b["seconds"] / a["seconds"] - 1)
    for p, q in zip(a["purposes"], b["purposes"]):
        yield p["purpose"] + " exposed", abs(q["exposed_seconds"]["mean"] - p["exposed_seconds"]["mean"]) / a["seconds"]
        yield p["purpose"] + " bytes", abs(q["bytes"] / p["bytes"] - 1)
    most = max(busy_of(full))
    for link, x, y in zip(full["links"], busy_of(full), busy_of(fast)):
        yield f"link {link['from']}", abs(x - y) / most


def figures(report):
    """Times, and exposed times of purposes, by name."""
    schedule = report["schedule"][0]
    return {"time": schedule["seconds"]} | {p["purpose"] + " exposed": p["exposed_seconds"]["mean"]
                                            for p in schedule["purposes"]}


def is_chance(hxmesh, fabric, path, options, what, full, fast):
    """Whether a figure lies within those of runs with a small jitter."""
    if what not in figures(full):
        return False
    whole = full["schedule"][0]["seconds"]
    runs = [run(hxmesh, fabric, path, options + ["--jitter", jitter, "--seed", str(seed)])
            for jitter in ("0.0001", "0.001", "0.002") for seed in (1, 2, 3)]
    values = [figures(r)[what] for r in [full] + runs]
    return min(values) - 0.01 * whole <= figures(fast)[what] <= max(values) + 0.01 * whole


def main():
    hxmesh, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    worst, failed, left_out = {}, 0, []
    for seed in range(first, first + count):
        rng = random.Random(seed)
        fabric, settings = rng.choice(FABRICS)
        with tempfile.NamedTemporaryFile("w", suffix=".schedule.yaml") as f:
            f.write(job(rng, hosts_of(hxmesh, fabric, settings)))
            f.flush()
            options = settings + (["--jitter", "0.02"] if rng.random() < 0.15 else [])
            full = run(hxmesh, fabric, f.name, options)
            fast = run(hxmesh, fabric, f.name, options + ["--fast-forward", "1%"])
            left_out.append(1 - fast["fast_forward"]["simulated_share"])
            for what, by in differences(full, fast):
                key = "links" if what.startswith("link") else what.split()[-1]
                worst[key] = max(worst.get(key, (0, 0)), (by, seed))
                if by > (0.03 if key == "links" else 0.01) and not is_chance(hxmesh, fabric, f.name, options, what, full, fast):
                    failed += 1
                    print(f"seed {seed}, {fabric}: {what} differs by {100 * by:.2f} %")
    print(f"left out {100 * sum(left_out) / len(left_out):.0f} % of the packets; worst: " +
          ", ".join(f"{k} {100 * v[0]:.3f} % (seed {v[1]})" for k, v in sorted(worst.items())))
    sys.exit(failed > 0)


main()
