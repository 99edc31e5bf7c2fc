#!/usr/bin/env python3
"""failures_oracle.py HXMESH FAILED SPEC [OPTION ...] - what `hxmesh check --failures FAILED` must say, counted anew.

The graph comes from the names of a run's links. Each set of FAILED links dies in turn. A breadth-first search over
the living links gives the pairs that are joined, and the shortest paths. On a HammingMesh the search is over the
states that the rule of routes allows: at most two crossings, only north after north on a board, up and then down in a
network. Pairs that it does not join take the escape VC: up, then down, by the distance from the first tree switch.
All traffic is split evenly over the first links of shortest paths, X first on a HammingMesh. That gives the loads.
Fabrics that lack some shortest paths for want of VCs do not suit.
"""
import collections
import itertools
import json
import re
import subprocess
import sys

program, failed, spec, *options = sys.argv[1:]
radix = int(options[options.index("--radix") + 1]) if "--radix" in options else 64
mesh = spec.endswith("Mesh")
ESCAPE = 3


def of(verb, *more):
    command = [program, verb, spec, *options, "--quiet", "--json", "-", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


report = of("run", "--clock", "virtual", "--traffic", "permutation", "--message", "64", "--fault", "all up")
links = [(link["from"].replace("/p0", ""), link["to"].replace("/p0", "")) for link in report["links"]]
far_of = dict(links)
traces = {end for link in links for end in link if link[0].endswith("/trace") or link[1].endswith("/trace")}
routers = {a.split("/")[0]: b.rsplit("/", 1)[0] for a, b in links if a.endswith("/trace")}
networks = {end.split("/")[0] for link in links for end in link if "/leaf" in end}


def node_of(end):
    """(kind, name): host, leaf, spine or router."""
    place, port = end.rsplit("/", 1)
    if mesh and place in networks and port.isdigit():  # of the network; half of a leaf's ports lead to boards
        place = f"{place}/leaf{int(port) // (radix // 2)}"
    if place.startswith("a"):
        return ("router", routers[place]) if place in routers and port != "trace" else ("host", place)
    return ("spine" if "/spine" in place else "leaf", place) if mesh else ("router", place)


def numbers_of(node):
    return [int(digits) for digits in re.findall(r"\d+", node[1])]


def tree_order(node):
    """Rows before columns; of a network the leaves, then the spines."""
    return not node[1].startswith("row"), numbers_of(node)[0], node[0] == "spine", numbers_of(node)[1:]


out = collections.defaultdict(list)  # node: its links, (end, far node)
for near, there in links:
    out[node_of(near)].append((near, node_of(there)))
hosts = sorted((n for n in out if n[0] == "host"), key=lambda n: numbers_of(n)[::-1])
trees = sorted((n for n in out if n[0] in ("leaf", "spine")), key=tree_order)
order = {node: i for i, node in enumerate(hosts + trees)}
failing = [link for link in links if link[0] < link[1] and link[0] not in traces]


def behind(state, end, far, level):
    """The state (node, VC, turned) of a packet behind a link; None: the rule forbids it."""
    node, vc, turned = state
    if not mesh:
        return far, 0, False
    if vc == ESCAPE:
        up = (level[far], order[far]) < (level[node], order[node])
        return None if up and turned else (far, ESCAPE, not up)
    if node[0] == "host":
        if far[0] != "host":  # it leaves the board
            return (far, vc + 1, False) if vc < 2 else None
        return None if turned and end[-1] != "N" else (far, vc, end[-1] == "N")
    if node[0] == "spine":
        return far, vc, True
    return None if turned and far[0] == "spine" else (far, vc, False)


def distances(to, states, dead, level):
    """{state: links to a host}, by steps backwards."""
    back = collections.defaultdict(list)
    for state in states:
        for end, far in out[state[0]]:
            after = behind(state, end, far, level) if end not in dead and state[0] != to else None
            if after:
                back[after].append(state)
    distance = {state: 0 for state in states if state[0] == to}
    queue = collections.deque(distance)
    while queue:
        state = queue.popleft()
        for before in back[state]:
            if before not in distance:
                distance[before] = distance[state] + 1
                queue.append(before)
    return distance


def levels(dead):
    """Per node its distance from the first tree switch, else host, that living links join to it; and that root."""
    level, part = {}, {}
    for root in trees + hosts + [node for node in out if node not in order]:
        if root in level:
            continue
        level[root], part[root] = 0, root
        queue = collections.deque([root])
        while queue:
            node = queue.popleft()
            for end, far in out[node]:
                if end not in dead and far not in level:
                    level[far], part[far] = level[node] + 1, root
                    queue.append(far)
    return level, part


def send(load, start, distance, dead, level, amount):
    """Adds a host's traffic to a destination, one link after the other."""
    waiting = {start: amount}
    for left in range(distance[start] - 1, -1, -1):
        ahead = collections.defaultdict(float)
        for state, part in waiting.items():
            ways = [(end, behind(state, end, far, level)) for end, far in out[state[0]] if end not in dead]
            ways = [way for way in ways if way[1] and distance.get(way[1]) == left]
            in_x = [way for way in ways if mesh and state[0][0] == "host" and way[0][-1] in "EW"]
            for end, after in in_x or ways:
                load[end] += part / len(in_x or ways)
                ahead[after] += part / len(in_x or ways)
        waiting = ahead


def one_set(of_links):
    dead = {end for link in of_links for end in link}
    level, part = levels(dead)
    kinds = itertools.product(range(ESCAPE + 1), (False, True)) if mesh else [(0, False)]
    states = [(node, *kind) for kind in kinds for node in out]
    load = collections.defaultdict(float)
    joined = escapes = longest = 0
    for to in hosts:
        distance = distances(to, states, dead, level)
        for source in hosts:
            if source == to or part[source] != part[to]:
                continue
            start = (source, 0, False)
            if start not in distance:
                start = (source, ESCAPE, False)
                escapes += 1
            joined += 1
            longest = max(longest, distance[start])
            send(load, start, distance, dead, level, 1 / (len(hosts) - 1))
    fullest = max((load[end] for end in load if end not in traces), default=0)
    return joined, escapes, longest, 1 / max(1, injection * fullest)


degrees = [len(out[("router", routers[name])]) - 1 if routers else len(out[("host", name)]) for _, name in hosts]
injection = sum(degrees) / len(degrees)
sets = [one_set(dead) for dead in itertools.combinations(failing, int(failed))]
pairs = len(hosts) * (len(hosts) - 1)
mine = {"links": len(failing), "sets": len(sets), "pairs": sum(s[0] for s in sets),
        "cut_off": sum(pairs - s[0] for s in sets), "escapes": sum(s[1] for s in sets),
        "longest": max(s[2] for s in sets), "worst": round(min(s[3] for s in sets), 6),
        "mean": round(sum(s[3] for s in sets) / len(sets), 6), "bad": [0, False, 0, 0]}
check = of("check", "--failures", failed, "--samples", "100000")["failures"]
its = {"links": check["links"], "sets": check["sets"], "pairs": check["pairs"], "cut_off": check["cut_off"]["pairs"],
       "escapes": check["escape"]["pairs"] if mesh else 0, "longest": check["longest"]["cables"],
       "worst": round(check["all_to_all"]["worst"], 6), "mean": round(check["all_to_all"]["mean"], 6),
       "bad": [check["cyclic"], check["mixed_cyclic"], check["no_path"]["pairs"], check["dead_ends"]["pairs"]]}
print(spec, *options, failed, mine if mine == its else f"\n  counted {mine}\n  check   {its}")
sys.exit(mine != its)
