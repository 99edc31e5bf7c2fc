#!/usr/bin/env python3
"""A cable fails while messages flow: fault.py [PICTURE]. The time of each message, with the fault and without."""
import sys

import matplotlib.pyplot as plt

import hxmesh


def times(**options):
    """Host 0 sends to host 15, one message after the other. Returns begins and durations, us."""
    begins, durations = [], []
    with hxmesh.Fabric("2x2 Hx2Mesh", **options) as fabric:
        fabric.send(0, 15, 1 << 18, cookie=0)
        for event in fabric.events(until=800_000_000):
            if event.type is hxmesh.EventType.FAULT:
                print(f"{event.time * 1e-6:.0f} us: {event.cookie}")
            if event.type is hxmesh.EventType.DELIVERED:
                begins.append(event.cookie * 1e-6)
                durations.append((event.time - event.cookie) * 1e-6)
            if event.type is hxmesh.EventType.ACKNOWLEDGED:
                fabric.send(0, 15, 1 << 18, cookie=event.time)
    return begins, durations


for name, options in (("healthy", {}), ("a0,0/W fails", {"fault": ["a0,0/W down at 200us for 300us"]})):
    found = times(**options)
    plt.plot(*found, ".", label=name)
    print(f"{name}: {len(found[0])} messages, the slowest took {max(found[1]):.1f} us")
plt.xlabel("begin of a message, us")
plt.ylabel("time to its delivery, us")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "fault.svg")
