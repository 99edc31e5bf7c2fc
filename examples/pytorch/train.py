"""train.py NAME - trains a small model data-parallel over gloo, a process for each rank, and records NAME.RANK.json.

The environment has RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them. Checks that a sum over all
ranks is right and that all ranks have the same weights in the end: exit code 1 if not.
"""

import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

import kineto

WIDTH, LAYERS, SAMPLES = 256, 8, 32
WARM_UP, STEPS = 2, 2  # DDP forms its buckets anew after the first step
NOTED = 0.5  # seconds: gloo's threads note the end of a collective after its waiters go on


def model():
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10))


def step(parallel, optimizer):
    samples, labels = torch.randn(SAMPLES, WIDTH), torch.randint(0, 10, (SAMPLES,))
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(parallel(samples), labels).backward()
    optimizer.step()


def check(parallel):
    """Whether communication was right, as this rank sees it."""
    ranks = dist.get_world_size()
    total = torch.tensor([dist.get_rank()])
    dist.all_reduce(total)
    own = torch.cat([weight.detach().flatten() for weight in parallel.parameters()])
    first = own.clone()
    dist.broadcast(first, 0)
    return total.item() == ranks * (ranks - 1) // 2 and torch.equal(own, first)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    parallel = DistributedDataParallel(model(), bucket_cap_mb=0.5)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    torch.manual_seed(1 + rank)
    with profile(
        activities=[ProfilerActivity.CPU],
        record_shapes=True,
        schedule=schedule(wait=0, warmup=WARM_UP, active=STEPS, repeat=1),
        on_trace_ready=lambda recorded: kineto.write(recorded, f"{sys.argv[1]}.{rank}.json"),
    ) as recorder:
        for number in range(WARM_UP + STEPS):
            step(parallel, optimizer)
            if number + 1 == WARM_UP + STEPS:
                time.sleep(NOTED)
            recorder.step()
    good = check(parallel)
    if rank == 0 or not good:
        print(f"{dist.get_world_size()} ranks, sum and weights are {'right' if good else 'wrong'}")
    sys.exit(not good)


main()
