"""A fabric under the virtual clock in this process."""
import ctypes
import enum
import json
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

from ._library import EVENT, NAME, NEVER, NOWHERE, TEXT, CEvent, CLink, library
from ._options import words


class SimulationError(RuntimeError):
    """What the library refused, in one line."""


class EventType(enum.IntEnum):
    """What happened."""
    DELIVERED = 0     # a whole message, at its receiver
    ACKNOWLEDGED = 1  # a message, at its sender
    FAILED = 2        # a message, at its sender: the receiver cannot be reached
    ENDED = 3         # a collective, at one of its hosts
    TIMER = 4
    FAULT = 5         # a fault begins; the cookie is its text


@dataclass(frozen=True)
class Event:
    """Something that happened at a time, ps. What does not apply is None."""
    type: EventType
    time: int
    host: Optional[int]
    cookie: Any
    source: Optional[int] = None
    destination: Optional[int] = None
    tag: Optional[int] = None
    bytes: Optional[int] = None

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return self.time * 1e-12


@dataclass(frozen=True)
class Link:
    """A direction of a link: what it sent since the start, in whole blocks of 256 bytes."""
    source: str
    destination: str
    packets: int
    bytes: int
    busy: int  # ps


Host = Union[int, str]


class Fabric:
    """A fabric by a spec ("16x16 Hx2Mesh") or a file, with the options of `hxmesh run` as keyword arguments.

    Time is in picoseconds from the start, and stands still between two events: what is posted begins now. Hosts are
    numbers, or names as "a3,1". A cookie is any object; it comes back with the events of what it was posted with. Close
    a fabric, or use it as a context. With `traffic` the fabric runs that by itself.
    """

    def __init__(self, fabric: str, **options: Any) -> None:
        self._lib = library()
        line = [word.encode() for word in words(**options)]
        given = (ctypes.c_char_p * (len(line) + 1))(*line, None)
        error = ctypes.create_string_buffer(TEXT)
        self._fabric = self._lib.open(str(fabric).encode(), given, error)
        if not self._fabric:
            raise SimulationError(error.value.decode())
        self.hosts: int = self._lib.hosts(self._fabric)
        self._cookies: Dict[int, Any] = {}  # by number; with the events that are left
        self._posted = 0
        self._event = CEvent()

    def close(self) -> None:
        """Gives everything back. A closed fabric cannot be used."""
        if self._fabric:
            self._lib.close(self._fabric)
            self._fabric = None

    def __enter__(self) -> "Fabric":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fabric", None):
            self.close()

    def _open(self) -> int:
        if not self._fabric:
            raise SimulationError("the fabric is closed")
        return self._fabric

    def _check(self, result: int) -> int:
        if result < 0:
            raise SimulationError(self._lib.error(self._fabric).decode())
        return result

    # ---- hosts

    def host(self, host: Host) -> int:
        """The number of a host."""
        if not isinstance(host, str):
            if not 0 <= host < self.hosts:
                raise SimulationError(f"host {host}: hosts are 0 to {self.hosts - 1}")
            return host
        number = self._lib.host_of(self._open(), host.encode())
        if number == NOWHERE:
            raise SimulationError(f"no host is called {host!r}: they are {self.name(0)} to {self.name(self.hosts - 1)}")
        return number

    def name(self, host: int) -> str:
        """The name of a host."""
        name = ctypes.create_string_buffer(NAME)
        self._check(self._lib.host_name(self._open(), self.host(host), name))
        return name.value.decode()

    def is_usable(self, host: Host) -> bool:
        """Whether a host is on no failed board."""
        return self._lib.is_usable(self._open(), self.host(host))

    # ---- what is posted

    def _keep(self, cookie: Any, events: int) -> int:
        self._posted += 1
        self._cookies[self._posted] = [cookie, events]
        return self._posted

    def _post(self, result: int) -> None:
        if result < 0:
            del self._cookies[self._posted]
        self._check(result)

    def send(self, source: Host, destination: Host, bytes: int, tag: int = 0, cookie: Any = None) -> None:
        """Posts a message between two hosts. Events: delivered and acknowledged, or failed."""
        fabric, ends = self._open(), (self.host(source), self.host(destination))
        if not 0 <= bytes < 2**64 or not 0 <= tag < 2**32:
            raise SimulationError(f"{bytes} bytes with tag {tag}: 0 to 2^44 bytes and 32 bits of a tag are possible")
        self._post(self._lib.send(fabric, *ends, bytes, tag, self._keep(cookie, 2)))

    def collective(self, kind: str, hosts: Sequence[Host], bytes: int = 0, algorithm: Optional[str] = None,
                   cookie: Any = None) -> None:
        """Begins a collective at all its hosts; the first is the root. It ends with an event at each.

        kind: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, barrier. bytes: of
        the vector, of an all-to-all of all that a host sends. algorithm: as `--algorithm`; None: the fastest by an
        estimate.
        """
        fabric, group = self._open(), [self.host(h) for h in hosts]
        if not 0 <= bytes < 2**64:
            raise SimulationError(f"{bytes} bytes: a vector has 1 to 2^44")
        self._post(self._lib.collective(fabric, kind.encode(), (ctypes.c_uint32 * len(group))(*group), len(group),
                                        bytes, algorithm.encode() if algorithm else None,
                                        self._keep(cookie, len(group))))

    def timer(self, time: int, cookie: Any = None) -> None:
        """Sets a timer at a time, ps."""
        fabric = self._open()
        if not 0 <= time < 2**64:
            raise SimulationError(f"a timer at {time} ps")
        self._post(self._lib.timer(fabric, time, self._keep(cookie, 1)))

    # ---- time

    @property
    def now(self) -> int:
        """ps from the start."""
        return self._lib.now(self._open())

    @property
    def window(self) -> int:
        """The longest delay, ps, of what is posted at another host than that of the last event."""
        return self._lib.window(self._open())

    def _cookie_of(self, event: CEvent) -> Any:
        if event.type == EventType.FAULT:
            return self._lib.fault(self._fabric, event.cookie).decode()
        kept = self._cookies[event.cookie]
        kept[1] -= 1
        if kept[1] <= 0 or (event.type == EventType.FAILED and event.source != NOWHERE):
            del self._cookies[event.cookie]
        return kept[0]

    def next(self, until: Optional[int] = None) -> Optional[Event]:
        """The next event; None: nothing is left to happen, or no event is before `until`, which is now."""
        e = self._event
        result = self._check(self._lib.next(self._open(), NEVER if until is None else until, e))
        if result != EVENT:
            return None
        message = e.source != NOWHERE
        return Event(EventType(e.type), e.time, None if e.host == NOWHERE else e.host, self._cookie_of(e),
                     e.source if message else None, e.destination if message else None, e.tag if message else None,
                     e.bytes if message else None)

    def events(self, until: Optional[int] = None) -> Iterator[Event]:
        """Events, one after the other; between two of them more may be posted."""
        while (event := self.next(until)) is not None:
            yield event

    def run(self, until: Optional[int] = None) -> int:
        """Runs to the end, or to a time, without looking at events. Returns the time, ps."""
        for _ in self.events(until):
            pass
        return self.now

    # ---- what was carried

    @property
    def links(self) -> List[Link]:
        """All directions of links, in the order of the report."""
        found, link = [], CLink()
        for number in range(self._lib.links(self._open())):
            self._check(self._lib.link(self._fabric, number, link))
            found.append(Link(link.source.decode(), link.destination.decode(), link.packets, link.bytes, link.busy))
        return found

    @property
    def warnings(self) -> List[str]:
        """What was said beside, a line each."""
        return self._lib.warnings(self._open()).decode().splitlines()

    def report(self) -> Dict[str, Any]:
        """Ends the run, and returns the report of `hxmesh run --json`. Nothing can be posted after that."""
        text = self._lib.report(self._open())
        if text is None:
            raise SimulationError(self._lib.error(self._fabric).decode())
        return json.loads(text)
