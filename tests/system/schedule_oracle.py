#!/usr/bin/env python3
"""schedule_oracle.py FILE - begin and end of each operation of a GOAL file on an ideal network, by LogGOPS' rules.

Independent of hxmesh: the tests compare both. Prints CSV rank,number,begin_ps,end_ps, empty for an operation that never
begins or ends; then the exit code is 1.

Rules:
    An operation is ready when all it waits for has ended (requires) or begun (irequires).
    A calc occupies its cpu. So does the overhead of a send or receive of s bytes: o + (s - 1) * O, for 0 bytes o. No
    overhead: no cpu. A free cpu takes the operation that was ready first, of several the one with the lowest number,
    after all else of this time has happened.
    A send begins with its overhead; then its message leaves. A rank's messages leave one after the other, s bytes in
    s * G. Messages without bytes go at once, a request not before the messages to the same rank sent earlier. L after its
    first byte left, a message is at its receiver,
    which takes messages one after the other in this order, each for s * G, those that come at one time in the order of
    their ranks. Sends and requests from one rank to another take effect in the order of sending.
    Up to `eager` bytes the send ends when its message leaves. Else a request of 0 bytes leaves; the receiver answers
    with 0 bytes when the request is matched; then the data leaves. The send ends L after the data took effect.
    A receive begins when it is ready. A message or request takes the first receive that fits, in the order of their
    beginnings; a receive takes the first message that fits, in the order of their effects. A receive ends after its
    overhead, for which it is ready when its message, or its data, is there.
    A message to the own rank takes no time and is eager.
"""
import argparse
import heapq
import math
import re
import sys

ANY = -1
LAST = (2, 0)  # turn of an event: at its time first bits of messages come first, by sender, then cpus, by number


class Operation:
    def __init__(self, rank, number, kind, amount, peer, tag, cpu):
        self.rank, self.number, self.kind = rank, number, kind
        self.amount, self.peer, self.tag, self.cpu = amount, peer, tag, cpu
        self.waits = 0
        self.after_start, self.after_end = [], []  # operations that wait for this one
        self.begin = self.end = None


# ---- the file ----

OPERATION = re.compile(
    r"(?:(?P<label>\w+)\s*:\s*)?(?:(?P<calc>calc)\s+(?P<ns>\d+)"
    r"|(?P<message>send|recv)\s+(?P<bytes>\d+)\s*b\s+(?:to|from)\s+(?P<peer>-1|\d+)(?:\s+tag\s+(?P<tag>-1|\d+))?)"
    r"(?:\s+cpu\s+(?P<cpu>\d+))?(?:\s+nic\s+\d+)?")
DEPENDENCY = re.compile(r"(\w+)\s+(i?requires)\s+(\w+)")


def read_line(line, rank, operations, labels):
    found = DEPENDENCY.fullmatch(line)
    if found:
        later, kind, earlier = labels[found[1]], found[2], labels[found[3]]
        (earlier.after_end if kind == "requires" else earlier.after_start).append(later)
        later.waits += 1
        return
    found = OPERATION.fullmatch(line)
    if not found:
        sys.exit(f"schedule_oracle.py: rank {rank}: not understood: {line}")
    kind = found["calc"] or found["message"]
    amount = int(found["ns"]) * 1000 if kind == "calc" else int(found["bytes"])
    operation = Operation(rank, len(operations), kind, amount, int(found["peer"] or 0), int(found["tag"] or 0),
                          int(found["cpu"] or 0))
    operations.append(operation)
    if found["label"]:
        labels[found["label"]] = operation


def read_goal(text):
    """Returns a list of operations for each rank."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    head = re.match(r"\s*num_ranks\s+(\d+)\s", text)
    ranks = [[] for _ in range(int(head[1]))]
    for number, body in re.findall(r"rank\s+(\d+)\s*\{([^}]*)\}", text[head.end():]):
        labels = {}
        for line in body.split("\n"):
            if line.strip():
                read_line(line.strip(), int(number), ranks[int(number)], labels)
    return ranks


# ---- the run ----

class Cpu:
    def __init__(self):
        self.busy = False
        self.waiting = []  # heap of (time of readiness, number, operation)


class Rank:
    def __init__(self):
        self.cpus = {}
        self.receives = []  # that have begun, without a message
        self.messages = []  # that took effect, without a receive: (send, is_request)
        self.out = self.into = 0  # when its links are free


def rounded(x):
    return math.floor(x + 0.5)


class Run:
    def __init__(self, ranks, costs):
        self.costs = costs
        self.ranks = [Rank() for _ in ranks]
        self.now = self.order = 0
        self.events = []      # heap of (time, turn, order, function, arguments)
        self.begun = {}       # (from, to): first bit of the last message in order
        self.in_order = {}    # (from, to): time at which the last message took effect
        self.receive_of = {}  # send of a matched request: its receive
        self.looked_at = []   # cpus that may take an operation
        for operations in ranks:
            for operation in operations:
                if operation.waits == 0:
                    self.at(0, self.ready, operation)

    def at(self, time, function, *arguments, turn=LAST):
        heapq.heappush(self.events, (time, turn, self.order, function, arguments))
        self.order += 1

    def run(self):
        while self.events:
            self.now = self.events[0][0]
            while self.events and self.events[0][0] == self.now:
                function, arguments = heapq.heappop(self.events)[-2:]
                function(*arguments)
            cpus, self.looked_at = self.looked_at, []
            for cpu in cpus:
                self.take(cpu)

    # -- begin and end --

    def overhead(self, operation):
        return self.costs.overhead + rounded(max(operation.amount - 1, 0) * self.costs.overhead_byte)

    def ready(self, operation):
        if operation.kind == "recv":
            self.begin(operation)
            self.post(operation)
        elif operation.kind == "send" and self.overhead(operation) == 0:
            self.begin(operation)
            self.leave(operation)
        else:
            self.occupy(operation)

    def begin(self, operation):
        operation.begin = self.now
        self.let_go(operation.after_start)

    def end(self, operation):
        operation.end = self.now
        self.let_go(operation.after_end)

    def let_go(self, followers):
        for later in sorted(followers, key=lambda operation: operation.number):
            later.waits -= 1
            if later.waits == 0:
                self.at(self.now, self.ready, later)

    # -- cpus --

    def occupy(self, operation):
        cpu = self.ranks[operation.rank].cpus.setdefault(operation.cpu, Cpu())
        heapq.heappush(cpu.waiting, (self.now, operation.number, operation))
        self.looked_at.append(cpu)

    def take(self, cpu):
        if cpu.busy or not cpu.waiting:
            return
        operation = heapq.heappop(cpu.waiting)[2]
        cpu.busy = True
        if operation.kind != "recv":
            self.begin(operation)
        length = operation.amount if operation.kind == "calc" else self.overhead(operation)
        self.at(self.now + length, self.leave_cpu, cpu, operation, turn=(1, operation.cpu))

    def leave_cpu(self, cpu, operation):
        cpu.busy = False
        self.looked_at.append(cpu)
        if operation.kind == "send":
            self.leave(operation)
        else:
            self.end(operation)

    # -- messages --

    def transmit(self, source, to, size, function, *arguments):
        length = rounded(size * self.costs.byte)
        begin = max(self.now, self.ranks[source].out) if length else self.now
        if function == self.match:
            begin = self.begun[(source, to)] = max(begin, self.begun.get((source, to), 0))
        if length:
            self.ranks[source].out = begin + length
        self.at(begin + self.costs.latency, self.reach, source, to, length, function, *arguments, turn=(0, source))

    def reach(self, source, to, length, function, *arguments):
        time = self.now
        if length:
            time = self.ranks[to].into = max(time, self.ranks[to].into) + length
        if function == self.match:  # answers and data have their operation: no order is needed
            time = max(time, self.in_order.get((source, to), 0))
            self.in_order[(source, to)] = time
        self.at(time, function, *arguments)

    def leave(self, send):
        if send.peer == send.rank:
            self.end(send)
            self.match(send, False)
        elif send.amount <= self.costs.eager:
            self.transmit(send.rank, send.peer, send.amount, self.match, send, False)
            self.end(send)
        else:
            self.transmit(send.rank, send.peer, 0, self.match, send, True)

    def answered(self, send):
        self.transmit(send.rank, send.peer, send.amount, self.data, send)

    def data(self, send):
        self.at(self.now + self.costs.latency, self.end, send)
        self.received(self.receive_of.pop(send))

    def received(self, receive):
        if self.overhead(receive) == 0:
            self.end(receive)
        else:
            self.occupy(receive)

    # -- matching --

    @staticmethod
    def fits(receive, send):
        return receive.peer in (ANY, send.rank) and receive.tag in (ANY, send.tag)

    def join(self, receive, send, is_request):
        if is_request:
            self.receive_of[send] = receive
            self.transmit(receive.rank, send.rank, 0, self.answered, send)
        else:
            self.received(receive)

    def match(self, send, is_request):
        place = self.ranks[send.peer]
        for i, receive in enumerate(place.receives):
            if self.fits(receive, send):
                del place.receives[i]
                self.join(receive, send, is_request)
                return
        place.messages.append((send, is_request))

    def post(self, receive):
        place = self.ranks[receive.rank]
        for i, (send, is_request) in enumerate(place.messages):
            if self.fits(receive, send):
                del place.messages[i]
                self.join(receive, send, is_request)
                return
        place.receives.append(receive)


def main():
    arguments = argparse.ArgumentParser(description="times of a GOAL file on an ideal network, as CSV")
    arguments.add_argument("file")
    arguments.add_argument("--latency", type=int, default=0, help="ps of a message (L)")
    arguments.add_argument("--byte", type=float, default=0, help="ps of each byte (G)")
    arguments.add_argument("--overhead", type=int, default=0, help="ps of each send and receive (o)")
    arguments.add_argument("--overhead-byte", type=float, default=0, help="ps of each further byte of these (O)")
    arguments.add_argument("--eager", type=int, default=1 << 62, help="bytes of the longest eager message (S)")
    costs = arguments.parse_args()
    with open(costs.file, encoding="ascii") as file:
        ranks = read_goal(file.read())
    Run(ranks, costs).run()
    print("rank,number,begin_ps,end_ps")
    stuck = 0
    for operations in ranks:
        for o in operations:
            stuck += o.end is None
            print(o.rank, o.number, "" if o.begin is None else o.begin, "" if o.end is None else o.end, sep=",")
    if stuck:
        sys.exit(f"schedule_oracle.py: {stuck} operations never end")


if __name__ == "__main__":
    main()
