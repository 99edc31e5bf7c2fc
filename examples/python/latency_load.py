#!/usr/bin/env python3
"""Latency over load: latency_load.py [PICTURE]. Runs of `hxmesh sweep`, a line for each fabric."""
import sys

import matplotlib.pyplot as plt

import hxmesh

FABRICS = ["4x4 Hx2Mesh", "torus 8x8", "fat-tree hosts=64"]

runs = hxmesh.sweep(FABRICS, traffic="uniform", message=8192, rate="0.05,0.1,0.2,0.3,0.4,0.5", duration="50us")
for fabric in FABRICS:
    stable = [run for run in runs if run["spec"] == fabric and run["latency_ns.mean"] is not None]
    plt.plot([run["rate"] for run in stable], [run["latency_ns.mean"] / 1000 for run in stable], "o-", label=fabric)
    print(f"{fabric}: stable up to {max(run['rate'] for run in stable):.0%} of the injection bandwidth")
plt.xlabel("offered load, share of the injection bandwidth")
plt.ylabel("mean latency of a packet, us")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "latency_load.svg")
