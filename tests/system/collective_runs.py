"""collective_runs.py - one collective by one algorithm under the virtual clock: for scripts that compare algorithms."""
import json
import subprocess
import sys

ALGORITHMS = ["tree", "double-tree", "chain", "ring", "rings", "torus", "halving", "doubling", "swing",
              "swing-doubling", "bruck", "direct", "pairwise", "hierarchy"]
# What hxmesh says where hosts, or a vector, lack an algorithm.
REFUSALS = ["use --algorithm", "cannot run a collective of so many messages"]


def size_text(size):
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.3g} {unit}"
    return f"{size} B"


def seconds(hxmesh, words):
    """Seconds of `hxmesh run` with these words; None: the hosts do not have the algorithm."""
    run = subprocess.run([hxmesh, "run"] + words + ["--clock", "virtual", "--no-verify",
                          "--workers", "1", "--quiet", "--json", "-"], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return json.loads(run.stdout)["virtual_seconds"]
    if any(text in run.stderr for text in REFUSALS):
        return None
    sys.exit(f"hxmesh run {' '.join(words)}: {run.stderr}")


def whole(hxmesh, fabric, kind, algorithm, size, planes=1):
    """Seconds of a collective of all hosts. size: 0 of a barrier."""
    message = ["--message", str(size)] if size else []
    return seconds(hxmesh, [fabric, "--traffic", kind, "--algorithm", algorithm, "--planes", str(planes)] + message)
