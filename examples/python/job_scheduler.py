#!/usr/bin/env python3
"""A scheduler of jobs of one's own: job_scheduler.py [PICTURE].

Jobs come at random times, wait for free hosts, and then carry out ten all-to-all exchanges. Hosts are given in the order
of their numbers, or anywhere: what do jobs that lie together gain?
"""
import random
import sys

import matplotlib.pyplot as plt

import hxmesh

ROUNDS, BYTES = 10, 1 << 20


def run(scattered):
    """Returns the time of each job on the network, us."""
    rng = random.Random(1)
    took, waiting = [], []
    with hxmesh.Fabric("4x4 Hx2Mesh") as fabric:
        free = list(range(fabric.hosts))
        for number in range(24):
            fabric.timer(rng.randrange(400_000_000), ("comes", rng.choice([4, 8, 16]), number))

        def start():
            while waiting and waiting[0][0] <= len(free):
                size, _ = waiting.pop(0)
                hosts = random.Random(size).sample(free, size) if scattered else free[:size]
                free[:] = sorted(set(free) - set(hosts))
                exchange({"hosts": hosts, "left": ROUNDS, "begin": fabric.now})

        def exchange(job):
            job["ends"] = len(job["hosts"])
            fabric.collective("all-to-all", job["hosts"], BYTES, cookie=job)

        for event in fabric.events():
            if event.type is hxmesh.EventType.TIMER:
                waiting.append(event.cookie[1:])
                start()
                continue
            job = event.cookie
            job["ends"] -= 1
            if job["ends"]:
                continue
            job["left"] -= 1
            if job["left"]:
                exchange(job)
                continue
            took.append((fabric.now - job["begin"]) * 1e-6)
            free[:] = sorted(free + job["hosts"])
            start()
    return took


for name, scattered in (("together", False), ("anywhere", True)):
    times = sorted(run(scattered))
    plt.plot(times, [i / len(times) for i in range(1, len(times) + 1)], drawstyle="steps-post", label=f"hosts {name}")
    print(f"hosts {name}: {len(times)} jobs, on the network for {sum(times) / len(times):.0f} us in the mean")
plt.xlabel("time of a job on the network, us")
plt.ylabel("share of jobs")
plt.legend()
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "job_scheduler.svg")
