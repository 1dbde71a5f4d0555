# SPDX-License-Identifier: Apache-2.0
"""usage: bench.py [DEVICE]

What a call costs beside PyTorch's own op on its CPU: tensors of 2 x 2, one thread, microseconds, the best of five rounds.
Work is enqueued and waited for once a round. DEVICE is a Keyway name; default: cpu.
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
    "x @ x": torch.mm,
    "x.view(4)": lambda x: x.view(4),
    "empty_like(x)": torch.empty_like,
}


def microseconds(call, arguments, count, wait):
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call(*arguments)
        wait()
        best = min(best, time.perf_counter() - start)
    return best / count * 1e6


def main():
    torch.set_num_threads(1)
    device = torch_keyway.register(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    print(f"{'':14}  PyTorch CPU  {torch_keyway.keyway_name(device)}")
    for name, call in CALLS.items():
        times = []
        for where, wait in (("cpu", lambda: None), (device, torch.keyway.synchronize)):
            x = torch.zeros(2, 2, device=where)
            times.append(microseconds(call, (x, x) if call is torch.mm else (x,), 5000, wait))
        print(f"{name:14} {times[0]:12.2f}  {times[1]:.2f}")


if __name__ == "__main__":
    main()
