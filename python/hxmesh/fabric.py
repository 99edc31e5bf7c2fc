"""A fabric under the virtual clock in this process."""
import ctypes
import enum
import json
import operator
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

from ._library import EVENT, LATER, NAME, NEVER, NOWHERE, TEXT, CEvent, CLink, library
from ._options import words


class SimulationError(RuntimeError):
    """What the library refused, in one line."""


class EventType(enum.IntEnum):
    """What happened."""
    DELIVERED = 0     # a whole message, at its receiver
    ACKNOWLEDGED = 1  # a message, at its sender
    FAILED = 2        # a message, at its sender: the receiver cannot be reached
    ENDED = 3         # a collective, at one of its hosts: all has arrived, what it sent is acknowledged
    TIMER = 4
    FAULT = 5         # a fault begins; the cookie is its text. Its end is no event


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
    """A direction of a link: what it sent since the start, in whole blocks of 256 bytes.

    A packet counts when its way onto the link is decided, so up to a window and a packet's time ahead of `now`.
    """
    source: str
    destination: str
    packets: int
    bytes: int
    busy: int  # ps


Host = Union[int, str]
LOOK_MS = 100  # between looks for Ctrl-C


def _number(value: Any, what: str, most: int) -> int:
    """A whole number, also as a float such as 1e6."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise SimulationError(f"{what}: {value!r} is no whole number") from None
    if not 0 <= number <= most:
        raise SimulationError(f"{what}: {value!r} is outside 0 .. {most}")
    return number


def _text(value: Any, what: str) -> bytes:
    if not isinstance(value, str) or "\0" in value:
        raise SimulationError(f"{what}: {value!r} is no text")
    return value.encode()


class Fabric:
    """A fabric by a spec ("16x16 Hx2Mesh") or a file, with the options of `hxmesh run` as keyword arguments.

    Time is in picoseconds from the start, and stands still between two events: what is posted begins now. Hosts are
    numbers, or names as "a3,1". A cookie is any object; it comes back with the events of what it was posted with. Close
    a fabric, or use it as a context. With `traffic` the fabric runs that by itself.
    """

    def __init__(self, fabric: str, **options: Any) -> None:
        self._fabric = None
        self._lib = library()
        self._lock = threading.Lock()
        line = [_text(word, "an option") for word in words(**options)]
        given = (ctypes.c_char_p * (len(line) + 1))(*line, None)
        error = ctypes.create_string_buffer(TEXT)
        self._fabric = self._lib.open(_text(str(fabric), "a fabric"), given, error)
        if not self._fabric:
            raise SimulationError(error.value.decode())
        self.hosts: int = self._lib.hosts(self._fabric)
        self._cookies: Dict[int, Any] = {}  # by number; with the events that are left
        self._posted = 0
        self._event = CEvent()

    def close(self) -> None:
        """Gives everything back. A closed fabric cannot be used."""
        if self._fabric:
            with self._use() as fabric:
                self._lib.close(fabric)
                self._fabric = None
                self._cookies.clear()

    def __enter__(self) -> "Fabric":
        with self._use():
            return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fabric", None):
            self._lib.close(self._fabric)

    def __reduce__(self) -> Any:
        raise TypeError("a Fabric cannot be copied or pickled")

    @contextmanager
    def _use(self) -> Iterator[int]:
        """One thread at a time calls the library for a fabric."""
        if not self._lock.acquire(blocking=False):
            raise SimulationError("the fabric is in use by another thread")
        try:
            if not self._fabric:
                raise SimulationError("the fabric is closed")
            yield self._fabric
        finally:
            self._lock.release()

    def _check(self, result: int) -> int:
        if result < 0:
            raise SimulationError(self._lib.error(self._fabric).decode())
        return result

    # ---- hosts

    def _host(self, fabric: int, host: Host) -> int:
        if not isinstance(host, str):
            return _number(host, "host", self.hosts - 1)
        number = self._lib.host_of(fabric, _text(host, "host"))
        if number == NOWHERE:
            raise SimulationError(f"no host is called {host!r}: they are {self._name(fabric, 0)} to "
                                  f"{self._name(fabric, self.hosts - 1)}")
        return number

    def _name(self, fabric: int, host: int) -> str:
        name = ctypes.create_string_buffer(NAME)
        self._check(self._lib.host_name(fabric, host, name))
        return name.value.decode()

    def host(self, host: Host) -> int:
        """The number of a host."""
        with self._use() as fabric:
            return self._host(fabric, host)

    def name(self, host: Host) -> str:
        """The name of a host."""
        with self._use() as fabric:
            return self._name(fabric, self._host(fabric, host))

    def is_usable(self, host: Host) -> bool:
        """Whether a host is on no board that failed by the spec. Faults of `fault` change nothing of that."""
        with self._use() as fabric:
            return self._lib.is_usable(fabric, self._host(fabric, host))

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
        with self._use() as fabric:
            ends = self._host(fabric, source), self._host(fabric, destination)
            size, tag = _number(bytes, "bytes", 2**44), _number(tag, "tag", 2**32 - 1)
            self._post(self._lib.send(fabric, *ends, size, tag, self._keep(cookie, 2)))

    def collective(self, kind: str, hosts: Iterable[Host], bytes: int = 0, algorithm: Optional[str] = None,
                   cookie: Any = None) -> None:
        """Begins a collective at all its hosts; the first is the root. It ends with an event at each.

        kind: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, barrier. bytes: of
        the vector, of an all-to-all of all that a host sends. algorithm: as `--algorithm`; None: the fastest by an
        estimate. It ends at a host when all has arrived there, and what it sent is acknowledged.
        """
        with self._use() as fabric:
            if isinstance(hosts, str):
                raise SimulationError(f"hosts: {hosts!r} is no group of hosts")
            group = [self._host(fabric, h) for h in hosts]
            words_of = _text(kind, "kind"), None if algorithm is None else _text(algorithm, "algorithm")
            size = _number(bytes, "bytes", 2**44)
            self._post(self._lib.collective(fabric, words_of[0], (ctypes.c_uint32 * len(group))(*group), len(group),
                                            size, words_of[1], self._keep(cookie, len(group))))

    def timer(self, time: int, cookie: Any = None, host: Optional[Host] = None) -> None:
        """Sets a timer at a time, ps. What is posted at its host then begins exactly then."""
        with self._use() as fabric:
            number = NOWHERE if host is None else self._host(fabric, host)
            self._post(self._lib.timer(fabric, number, _number(time, "time", 2**62), self._keep(cookie, 1)))

    # ---- time

    @property
    def now(self) -> int:
        """ps from the start. Of traffic that is over: when its last packet arrived."""
        with self._use() as fabric:
            return self._lib.now(fabric)

    @property
    def window(self) -> int:
        """The longest delay, ps, of what is posted at another host than that of the last event."""
        with self._use() as fabric:
            return self._lib.window(fabric)

    def _cookie_of(self, event: CEvent) -> Any:
        if event.type == EventType.FAULT:
            return self._lib.fault(self._fabric, event.cookie).decode()
        kept = self._cookies[event.cookie]
        message = event.source != NOWHERE
        if event.type == EventType.FAILED and not message:
            return kept[0]  # of a collective, which never ends for all
        kept[1] -= 1
        if kept[1] == 0 or event.type == EventType.FAILED:
            del self._cookies[event.cookie]
        return kept[0]

    def _next(self, until: int) -> int:
        """What hx_sim_next_within() returns, after a while of real time at the latest: then Ctrl-C is seen."""
        with self._use() as fabric:
            return self._check(self._lib.next_within(fabric, until, LOOK_MS, self._event))

    def next(self, until: Optional[int] = None) -> Optional[Event]:
        """The next event. None: nothing is left to happen; or nothing happens before `until`, which is now."""
        limit = NEVER if until is None else _number(until, "until", 2**62)
        while (result := self._next(limit)) == LATER:
            pass
        if result != EVENT:
            return None
        e = self._event
        message = e.source != NOWHERE
        return Event(EventType(e.type), e.time, None if e.host == NOWHERE else e.host, self._cookie_of(e),
                     e.source if message else None, e.destination if message else None, e.tag if message else None,
                     e.bytes if message else None)

    def events(self, until: Optional[int] = None) -> Iterator[Event]:
        """Events, one after the other; between two of them more may be posted. After that, `until` is now."""
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
        """All directions of links, in the order of the report; ports are named as "a0,0/p0/E": plane 0, east."""
        found, link = [], CLink()
        with self._use() as fabric:
            for number in range(self._lib.links(fabric)):
                self._check(self._lib.link(fabric, number, link))
                found.append(Link(link.source.decode(), link.destination.decode(), link.packets, link.bytes, link.busy))
        return found

    @property
    def warnings(self) -> List[str]:
        """What was said beside, a line each."""
        with self._use() as fabric:
            return self._lib.warnings(fabric).decode().splitlines()

    def report(self) -> Dict[str, Any]:
        """Ends the run, and returns the report of `hxmesh run --json`. Nothing can be posted after that."""
        with self._use() as fabric:
            text = self._lib.report(fabric)
            if text is None:
                raise SimulationError(self._lib.error(fabric).decode())
        return json.loads(text)
