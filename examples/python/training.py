#!/usr/bin/env python3
"""A training job on three fabrics: training.py [PICTURE]. The time of an iteration, and what of it is exposed."""
import pathlib
import sys

import matplotlib.pyplot as plt

import hxmesh

MODEL = pathlib.Path(__file__).resolve().parent.parent / "models" / "bert-topoopt.model.yaml"
FABRICS = ["8x4 Hx2Mesh", "torus 16x8", "fat-tree hosts=128 taper=2"]

for at, fabric in enumerate(FABRICS):
    report = hxmesh.run(fabric, traffic=MODEL, fast_forward="1%", links=False)
    job = report["schedule"][0]
    computing = job["computing_seconds"]["mean"] * 1e3
    exposed = job["exposed_seconds"]["mean"] * 1e3
    plt.bar(at, computing, color="C0", label=None if at else "computing")
    plt.bar(at, exposed, bottom=computing, color="C1", label=None if at else "exposed communication")
    print(f"{fabric}: an iteration takes {job['iteration_seconds'] * 1e3:.2f} ms, {exposed:.2f} ms of it exposed")
plt.xticks(range(len(FABRICS)), FABRICS)
plt.ylabel("ms")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "training.svg")
