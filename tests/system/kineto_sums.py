"""kineto_sums.py FILE... - what collectives of Kineto traces move: a line "KIND COUNT BYTES" each, over all files.

A second derivation, on its own, of what `hxmesh schedule` makes of the files: bytes are those of the vector, which
each member has, once for each member.
"""

import collections
import gzip
import json
import math
import re
import sys

SIZES = {"float": 4, "int": 4, "double": 8, "long": 8, "long int": 8, "half": 2, "c10::half": 2, "bfloat16": 2,
         "c10::bfloat16": 2, "byte": 1, "char": 1, "unsigned char": 1, "signed char": 1, "bool": 1}
KINDS = [("all-reduce", "all_?reduce"), ("reduce-scatter", "reduce_?scatter"), ("all-gather", "all_?gather"),
         ("broadcast", "broadcast"), ("all-to-all", "all_?to_?all"), ("barrier", "barrier"), ("reduce", "reduce"),
         ("gather", "gather")]


def kind_of(name):
    return next((kind for kind, pattern in KINDS if re.match("(gloo:)?_?" + pattern, name)), None)


def given(args):
    """Bytes that a rank gives."""
    if "In msg nelems" in args:
        return args["In msg nelems"] * SIZES[args["dtype"].lower()]
    return sum(math.prod(dims) * SIZES[kind.lower()] for dims, kind in zip(args["Input Dims"], args["Input type"]))


def collectives(trace):
    """Name, args and group size of each collective: of the GPU if it has any, else of gloo."""
    world = trace["distributedInfo"]["world_size"]
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    kernels = [event["args"] for event in events
               if event.get("cat") == "kernel" and "Collective name" in event["args"]]
    found = [(args["Collective name"], args) for args in kernels] or \
            [(event["name"], event["args"]) for event in events if event["name"].startswith("gloo:")]
    return [(name, args, args.get("Group size", world)) for name, args in found]


def main():
    count, total = collections.Counter(), collections.Counter()
    for path in sys.argv[1:]:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
            trace = json.load(file)
        for name, args, size in collectives(trace):
            kind = kind_of(name)
            if kind is None or size == 1:
                continue
            count[kind] += 1
            if kind != "barrier":
                total[kind] += given(args) * (size if kind in ("all-gather", "gather") else 1)
    for kind in sorted(count):
        print(kind, count[kind], total[kind])


main()
