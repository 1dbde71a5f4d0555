# SPDX-License-Identifier: Apache-2.0
"""usage: bench.py [DEVICE]

What a call costs beside PyTorch's own op on its CPU: tensors of 2 x 2, one thread, microseconds, the best of ten rounds that
take turns. Work is enqueued and waited for once a round. DEVICE is a Keyway name; default: cpu.
"""

import sys
import time

import torch
import torch_keyway

CALLS = {
    "x + x": lambda x: x + x,
    "x * 2.0": lambda x: x * 2.0,
    "x.add_(x)": lambda x: x.add_(x),
    "relu(x)": torch.relu,
    "x.sum()": torch.sum,
    "x.mm(x)": lambda x: x.mm(x),
    "x.view(4)": lambda x: x.view(4),
    "empty_like(x)": torch.empty_like,
}


ROUNDS, COUNT = 10, 5000


def microseconds(call, x, wait):
    start = time.perf_counter()
    for _ in range(COUNT):
        call(x)
    wait()
    return (time.perf_counter() - start) / COUNT * 1e6


def main():
    torch.set_num_threads(1)
    device = torch_keyway.register(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    print(f"{'':14}  PyTorch CPU  {torch_keyway.keyway_name(device):>9}  ratio")
    for name, call in CALLS.items():
        sides = (torch.zeros(2, 2), lambda: None), (torch.zeros(2, 2, device=device), torch.keyway.synchronize)
        rounds = [[microseconds(call, *side) for side in sides] for _ in range(ROUNDS)]
        cpu, own = map(min, zip(*rounds))
        print(f"{name:14}  {cpu:11.2f}  {own:9.2f}  {own / cpu:5.2f}")


if __name__ == "__main__":
    main()
