#!/usr/bin/env python3
"""schedule_random.py SEED - a random schedule as GOAL text, in which every message has its receive and nothing blocks.

Operations are drawn one after the other, a message as its send and its receive. Each waits only for operations of its
rank that were drawn before it, so that no order of messages can block.

Which receive gets which message does not depend on time: sends from one rank to another begin in the order in which
they were drawn, on one cpu if they do not wait for each other's end; so do their receives. So the receive of any tag
gets its message. A receive of any source has a tag of its own, or its rank has messages from one source only.

Sizes and computing times are drawn without repetition, so that few things happen at the same time; with --ties nearly
everything does.
"""
import argparse
import random


class Draw:
    def __init__(self, seed, ties):
        self.random = random.Random(seed)
        self.ties = ties
        self.ranks = self.random.randint(2, 8)
        self.cpus = self.random.randint(1, 3)
        self.lines = [[] for _ in range(self.ranks)]  # (label, text)
        self.dependencies = [[] for _ in range(self.ranks)]  # (later, kind, earlier)
        self.cpu_of = {}
        self.last_send, self.last_receive = {}, {}  # label by (source, destination)
        self.sources = self.draw_sources()
        self.numbers = {0}
        self.own_tag = 100

    def draw_sources(self):
        """Ranks that each rank has messages from: one, or all others."""
        sources = {}
        for rank in range(self.ranks):
            others = [other for other in range(self.ranks) if other != rank]
            sources[rank] = [self.random.choice(others)] if self.random.random() < 0.3 else others
        return sources

    def number(self, most):
        """A number from 0 to most, at small odds 0."""
        if self.ties:
            return self.random.randint(0, 2)
        if self.random.random() < 0.05:
            return 0
        while True:
            drawn = self.random.randint(1, most)
            if drawn not in self.numbers:
                self.numbers.add(drawn)
                return drawn

    def depend(self, rank, later, earlier):
        self.dependencies[rank].append((later, self.random.choice(("requires", "requires", "irequires")), earlier))
        return self.dependencies[rank][-1][1]

    def add(self, rank, text, after=None, chained=False):
        """Adds an operation that waits for `after`, if given, and for some others. chained: on the cpu of `after` unless
        it waits for its end."""
        lines = self.lines[rank]
        label = f"l{len(lines)}"
        cpu = self.random.randrange(self.cpus)
        for earlier in self.random.sample(lines, min(len(lines), self.random.choice((0, 0, 1, 1, 2, 3)))):
            if earlier[0] != after:
                self.depend(rank, label, earlier[0])
        if after and self.depend(rank, label, after) == "irequires" and chained:
            cpu = self.cpu_of[rank, after]
        self.cpu_of[rank, label] = cpu
        lines.append((label, text + (f" cpu {cpu}" if cpu or self.random.random() < 0.2 else "")))
        return label

    def message(self):
        to = self.random.randrange(self.ranks)
        source = self.random.choice(self.sources[to])
        size, tag = self.number(100000), self.random.randrange(4)
        sender, expected = str(source), str(tag)
        wish = self.random.random()
        if wish < 0.15:
            expected = "-1"
        elif wish < 0.3:
            tag = self.own_tag
            self.own_tag += 1
            sender, expected = "-1", str(tag)
        elif wish < 0.5 and len(self.sources[to]) == 1:
            sender, expected = "-1", "-1"
        pair = (source, to)
        self.last_send[pair] = self.add(source, f"send {size}b to {to}" + (f" tag {tag}" if tag else ""),
                                        self.last_send.get(pair), True)
        self.last_receive[pair] = self.add(to, f"recv {size}b from {sender}" + (f" tag {expected}" if tag or expected != "0" else ""),
                                           self.last_receive.get(pair))

    def operations(self, count):
        for _ in range(count):
            if self.random.random() < 0.4:
                self.add(self.random.randrange(self.ranks), f"calc {self.number(1000)}")
            else:
                self.message()

    def print(self):
        shuffled = self.random.random() < 0.5
        print(f"num_ranks {self.ranks}\n")
        for rank in range(self.ranks):
            lines = self.lines[rank][:]
            if shuffled:
                self.random.shuffle(lines)
            print(f"rank {rank} {{")
            for label, text in lines:
                print(f"{label}: {text}")
            for dependency in self.dependencies[rank]:
                print(*dependency)
            print("}\n")


def main():
    arguments = argparse.ArgumentParser(description="a random schedule that matches, as GOAL text")
    arguments.add_argument("seed", type=int)
    arguments.add_argument("--operations", type=int, help="calcs and messages; none: 5 to 80")
    arguments.add_argument("--ties", action="store_true", help="small times and sizes, often equal")
    asked = arguments.parse_args()
    draw = Draw(asked.seed, asked.ties)
    draw.operations(asked.operations or draw.random.randint(5, 80))
    draw.print()


if __name__ == "__main__":
    main()
