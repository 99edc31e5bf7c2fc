#!/usr/bin/env python3
"""A collective of one's own beside those of hxmesh: own_collective.py [PICTURE]."""
import sys

import matplotlib.pyplot as plt

import hxmesh

FABRIC, SIZES = "2x2 Hx2Mesh", [2**n for n in range(12, 25, 2)]


def neighbours(fabric, size):
    """All-reduce on a ring: each host sends a part to the next one, 2 (n - 1) times. Returns seconds."""
    n = fabric.hosts
    for host in range(n):
        fabric.send(host, (host + 1) % n, size // n, cookie=1)
    for event in fabric.events():
        if event.type is hxmesh.EventType.DELIVERED and event.cookie < 2 * (n - 1):
            fabric.send(event.host, (event.host + 1) % n, size // n, cookie=event.cookie + 1)
    return fabric.now * 1e-12


def built_in(fabric, size, algorithm):
    """The same by an algorithm of hxmesh."""
    fabric.collective("all-reduce", range(fabric.hosts), size, algorithm)
    return fabric.run() * 1e-12


ways = {"own: one ring": neighbours, "ring: both directions": lambda f, s: built_in(f, s, "ring"),
        "torus": lambda f, s: built_in(f, s, "torus"), "best": lambda f, s: built_in(f, s, "best")}
for name, way in ways.items():
    times = []
    for size in SIZES:
        with hxmesh.Fabric(FABRIC) as opened:
            times.append(way(opened, size))
    plt.loglog(SIZES, [t * 1e6 for t in times], "o-", label=name)
    print(f"{name}: {times[0] * 1e6:.1f} us for 4 KiB, {times[-1] * 1e6:.0f} us for 16 MiB")
plt.xlabel("bytes of the vector")
plt.ylabel(f"time of an all-reduce on {FABRIC}, us")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "own_collective.svg")
