"""hxmesh.Fabric as its users call it."""
import copy
import os
import pickle
import signal
import threading

import pytest

import hxmesh
from hxmesh import EventType, Fabric, SimulationError

SMALL = "2x2 Hx2Mesh"


def test_message_comes_back_with_its_cookie():
    cookie = object()
    with Fabric(SMALL) as f:
        f.send("a0,0", 5, 100_000, tag=7, cookie=cookie)
        delivered, acknowledged = f.events()
        assert delivered.type is EventType.DELIVERED and acknowledged.type is EventType.ACKNOWLEDGED
        assert delivered.cookie is cookie and acknowledged.cookie is cookie
        assert (delivered.host, delivered.source, delivered.destination) == (5, 0, 5)
        assert (acknowledged.host, delivered.tag, delivered.bytes) == (0, 7, 100_000)
        assert 0 < delivered.time < acknowledged.time == f.now
        assert delivered.seconds == delivered.time * 1e-12
        assert not f._cookies


def test_reaction_begins_at_once():
    with Fabric(SMALL) as f:
        f.send(0, 9, 8192)
        times = []
        for event in f.events():
            if event.type is EventType.DELIVERED:
                times.append(event.time)
                if len(times) < 4:
                    f.send(event.destination, event.source, 8192)
        steps = [b - a for a, b in zip(times, times[1:])]
        assert len(set(steps)) == 1 and 0 <= steps[0] - times[0] < 10_000  # behind an acknowledgement


def test_timers_and_until():
    with Fabric(SMALL) as f:
        f.timer(3_000_000, "late")
        f.timer(1_000_000, "early")
        assert f.next(500_000) is None and f.now == 500_000
        assert [e.cookie for e in f.events()] == ["early", "late"]
        assert f.run(5_000_000) == 5_000_000
        with pytest.raises(SimulationError, match="it is 5000000 ps"):
            f.timer(4_000_000)


@pytest.mark.parametrize("kind", ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "barrier"])
def test_collective_ends_at_each_host(kind):
    with Fabric(SMALL, planes=2) as f:
        f.collective(kind, ["a0,0", 3, 9], 0 if kind == "barrier" else 30_000, cookie=kind)
        events = list(f.events())
        assert sorted(e.host for e in events) == [0, 3, 9]
        assert {(e.type, e.cookie) for e in events} == {(EventType.ENDED, kind)}
        assert not f._cookies


def test_fault_says_what_it_is():
    with Fabric(SMALL, fault=["a1,1 down at 2us"]) as f:
        f.send(0, "a1,1", 10_000_000, cookie="lost")
        seen = {e.type: e.cookie for e in f.events()}
        assert seen[EventType.FAULT] == "a1,1 down at 2us"
        assert seen[EventType.FAILED] == "lost"


def test_mistakes_are_one_line_and_change_nothing():
    with pytest.raises(SimulationError, match="is not a fabric"):
        Fabric("4x4 Hx9")
    with pytest.raises(SimulationError, match="--planes: 99 is outside 1 .. 4"):
        Fabric(SMALL, planes=99)
    with pytest.raises(SimulationError, match="--workers: is for the program"):
        Fabric(SMALL, workers=2)
    with Fabric(SMALL) as f:
        for call in (lambda: f.send(0, 0, 1), lambda: f.send(0, 16, 1), lambda: f.send(0, "a9,9", 1),
                     lambda: f.send(0, 1, -1), lambda: f.send(0, 1, 1, tag=2**40), lambda: f.timer(-1),
                     lambda: f.collective("all-sum", [0, 1], 8), lambda: f.collective("all-reduce", [0, 0], 8),
                     lambda: f.collective("all-reduce", [0], 8), lambda: f.host(16), lambda: f.name(16)):
            with pytest.raises(SimulationError) as error:
                call()
            assert "\n" not in str(error.value)
        assert f.next() is None and f.now == 0 and not f._cookies
    with pytest.raises(SimulationError, match="closed"):
        f.send(0, 1, 1)
    f.close()


def test_links_and_report():
    with Fabric("Ring(4)", seed=3) as f:
        f.send(0, 1, 8192)
        f.run()
        used = [link for link in f.links if link.bytes == 8192]
        assert [(link.source.split("/")[0], link.destination.split("/")[0]) for link in used] == [
            ("a0,0", "router0"), ("router0", "router1"), ("router1", "a1,0")]
        assert all(link.packets == 1 and link.busy > 0 for link in used)
        report = f.report()
        assert report["complete"] and report["packets_delivered"] == 1 and report["seed"] == 3
        assert f.warnings == []
        with pytest.raises(SimulationError, match="the report has ended the run"):
            f.send(0, 1, 1)


def test_many_fabrics_beside_each_other():
    fabrics = [Fabric(SMALL), Fabric("torus 4x4"), Fabric(SMALL)]
    for f in fabrics:
        for host in range(16):
            f.send(host, (host + 3) % 16, 50_000)
    ends = [f.run() for f in fabrics]
    assert ends[0] == ends[2] != ends[1]
    for f in fabrics:
        f.close()


def test_names():
    with Fabric("torus 4x4", fault=["a0,0/E down at 1us"]) as f:  # searched routes: other addresses, the same names
        assert [f.host(f.name(h)) for h in range(16)] == list(range(16))
        assert {f.name(h) for h in range(16)} == {f"a{x},{y}" for x in range(4) for y in range(4)}
    with Fabric("3x2 Hx2Mesh") as f:
        assert f.hosts == 24 and [f.host(f.name(h)) for h in range(24)] == list(range(24))
        assert all(f.is_usable(h) for h in range(24))
        assert f.window > 0
    assert hxmesh.__version__


def test_numbers_may_be_floats_and_mistakes_of_types_are_refused():
    with Fabric(SMALL) as f:
        f.send(0, 1, 1e3, cookie="float")
        f.timer(1e6, host=3)
        assert sorted(e.host for e in f.events()) == [0, 1, 3]
        for call in (lambda: f.send(0, 1, 1.5), lambda: f.send(0, 1, None), lambda: f.send(b"a0,0", 1, 1),
                     lambda: f.collective(None, [0, 1], 8), lambda: f.collective("all-reduce", "a0,0", 8),
                     lambda: f.collective("all-reduce", [0, 1], 8, 5), lambda: f.host(0.5), lambda: f.run(-1),
                     lambda: f.run(2**64), lambda: f.host("a0,0\0"), lambda: Fabric("2x2 Hx2Mesh\0")):
            with pytest.raises(SimulationError):
                call()


def test_a_fabric_is_of_one_process_and_one_thread_at_a_time():
    with Fabric(SMALL) as f:
        for call in (lambda: copy.copy(f), lambda: copy.deepcopy(f), lambda: pickle.dumps(f)):
            with pytest.raises(TypeError, match="cannot be copied"):
                call()
        with f._use(), pytest.raises(SimulationError, match="in use by another thread"):
            f.next()
    with pytest.raises(SimulationError, match="closed"):
        with f:
            pass


def test_ctrl_c_ends_a_long_run():
    with Fabric("8x8 Hx2Mesh") as f:
        f.collective("all-to-all", range(256), 1 << 32)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            f.run()
        assert f.now >= 0


def test_traffic_ends_at_its_last_packet():
    with Fabric(SMALL, traffic="all-reduce", message=1 << 20) as f:
        end = f.run()
        assert end == f.now == round(f.report()["seconds"] * 1e12)


def test_collective_with_a_dead_host_fails_and_leaves_the_rest():
    with Fabric(SMALL, fault=["a1,1 down at 1us"]) as f:
        f.collective("all-to-all", range(16), 16 * 4096, cookie="lost")
        seen = [(e.type, e.cookie) for e in f.events()]
        assert (EventType.FAILED, "lost") in seen and seen.count((EventType.ENDED, "lost")) < 16
        f.collective("all-reduce", [0, 1, 2], 4096, cookie="later")
        assert [(e.type, e.cookie) for e in f.events()] == [(EventType.ENDED, "later")] * 3


def test_threads_open_fabrics_of_their_own():
    ends = []

    def work():
        for _ in range(5):
            with Fabric(SMALL) as f:
                f.send(0, 9, 100_000)
                ends.append(f.run())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ends) == 40 and len(set(ends)) == 1
