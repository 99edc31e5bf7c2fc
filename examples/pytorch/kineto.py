"""kineto.py - writes what torch.profiler recorded as a Kineto trace with the sizes of collectives.

A PyTorch with Kineto does so by itself. That of Debian is built without it: its export_chrome_trace() leaves out the
sizes, which the profiler has. Record with record_shapes=True.
"""

import json

import torch
import torch.distributed


def _event(event):
    """An event as Kineto writes it: times in us; operators have a namespace, annotations of programs have none."""
    name = event.name()
    return {
        "ph": "X",
        "cat": "cpu_op" if "::" in name else "user_annotation",
        "name": name,
        "pid": 0,
        "tid": event.start_thread_id(),
        "ts": event.start_us(),
        "dur": event.duration_us(),
        "args": {"Input Dims": event.shapes(), "Input type": event.dtypes()},
    }


def _groups():
    """The process groups that this rank knows, as newer PyTorch names them in its traces."""
    inside = torch.distributed.distributed_c10d
    return [
        {"pg_name": inside._pg_names[group], "pg_size": len(ranks), "ranks": sorted(ranks)}
        for group, ranks in inside._pg_group_ranks.items()
    ]


def write(profile, path):
    """Writes the trace of a profile that has ended. Ranks' files differ in the rank's number alone: NAME.RANK.json."""
    if torch.profiler.kineto_available():
        profile.export_chrome_trace(path)
        return
    distributed = {
        "backend": torch.distributed.get_backend(),
        "rank": torch.distributed.get_rank(),
        "world_size": torch.distributed.get_world_size(),
        "pg_config": _groups(),
    }
    events = [_event(event) for event in profile.profiler.kineto_results.events()]
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schemaVersion": 1, "distributedInfo": distributed, "traceEvents": events}, out)
