"""Fabrics of AI clusters, packet by packet: a HammingMesh, tori, fat trees and others.

A fabric is an object to which messages are posted, and which gives back events with their times:

    import hxmesh

    with hxmesh.Fabric("16x16 Hx2Mesh", planes=2) as fabric:
        fabric.send(0, 5, 1 << 20)
        for event in fabric.events():
            print(event)

`run`, `sweep`, `train` and `info` are the commands of that name, with their JSON as a dictionary.
"""
from .commands import CommandError, Report, Reports, info, run, sweep, train
from .fabric import Event, EventType, Fabric, Link, SimulationError

__version__ = "0.2.0"
__all__ = ["CommandError", "Event", "EventType", "Fabric", "Link", "Report", "Reports", "SimulationError", "info",
           "run", "sweep", "train"]
