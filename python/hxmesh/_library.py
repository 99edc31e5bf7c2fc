"""libhxmesh-sim by ctypes: the functions of <hxmesh/sim.h>."""
import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_int, c_uint, c_uint32, c_uint64, c_void_p

TEXT = 800
NAME = 40
NEVER = 2**64 - 1
NOWHERE = 2**32 - 1
EVENT, LATER = 1, 4


class CEvent(ctypes.Structure):
    """struct hx_sim_event"""
    _fields_ = [("type", c_int), ("host", c_uint32), ("time", c_uint64), ("cookie", c_uint64), ("source", c_uint32),
                ("destination", c_uint32), ("tag", c_uint32), ("bytes", c_uint64)]


class CLink(ctypes.Structure):
    """struct hx_sim_link"""
    _fields_ = [("source", ctypes.c_char * NAME), ("destination", ctypes.c_char * NAME), ("packets", c_uint64),
                ("bytes", c_uint64), ("busy", c_uint64)]


_FUNCTIONS = {
    "open": (c_void_p, [c_char_p, POINTER(c_char_p), c_char_p]),
    "close": (None, [c_void_p]),
    "error": (c_char_p, [c_void_p]),
    "warnings": (c_char_p, [c_void_p]),
    "hosts": (c_uint32, [c_void_p]),
    "is_usable": (c_bool, [c_void_p, c_uint32]),
    "host_name": (c_int, [c_void_p, c_uint32, c_char_p]),
    "host_of": (c_uint32, [c_void_p, c_char_p]),
    "send": (c_int, [c_void_p, c_uint32, c_uint32, c_uint64, c_uint32, c_uint64]),
    "collective": (c_int, [c_void_p, c_char_p, POINTER(c_uint32), c_uint32, c_uint64, c_char_p, c_uint64]),
    "timer": (c_int, [c_void_p, c_uint32, c_uint64, c_uint64]),
    "next_within": (c_int, [c_void_p, c_uint64, c_uint, POINTER(CEvent)]),
    "now": (c_uint64, [c_void_p]),
    "window": (c_uint64, [c_void_p]),
    "fault": (c_char_p, [c_void_p, c_uint64]),
    "links": (c_uint32, [c_void_p]),
    "link": (c_int, [c_void_p, c_uint32, POINTER(CLink)]),
    "report": (c_char_p, [c_void_p]),
}


class _Library:
    """Its functions without the prefix hx_sim_."""

    def __init__(self) -> None:
        path = os.environ.get("HXMESH_LIBRARY") or "libhxmesh-sim.so.0"
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(f"{path}: {error} (install the package libhxmesh-sim0, or name the library by the "
                              "variable HXMESH_LIBRARY)") from error
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, "hx_sim_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


_loaded = None


def library() -> "_Library":
    """The library, loaded when a fabric is opened first: the commands need none."""
    global _loaded
    if _loaded is None:
        _loaded = _Library()
    return _loaded
