#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What calls may cost: instructions, locks and allocations, which are the same on a loaded machine.

usage: call_cost_test.py BENCH_DISPATCH
"""
import json
import subprocess
import sys

# Instructions of a call on one element, from kw_op_call to the plugin's empty kernel and back: of add.Tensor into a
# tensor of its own, with arguments that are made for each call, by hand and as a typed call, into its argument, with a
# result that the call allocates, on a second stream; of embedding, whose kernel may find errors in the data. From
# kw_plan_run likewise, on the same tensors as before and on others. Of a tensor that is made and released; of
# addresses that stand for one, reserved and released.
LIMITS = {"op_call": 190, "by_hand": 250, "typed": 260, "in_place": 192, "allocated": 1030, "second_stream": 790,
          "data_errors": 860, "plan_run": 84, "plan_run_others": 232, "tensor": 285, "address": 440}
# Locks of a call; others take none.
LOCKS = {"address": 2}
# More than a call by hand, which makes its arguments likewise, a typed call (keyway/ops.h) takes to look for its op and
# for a scope.
TYPED = 12
# Instructions of parts: of a tensor's memory, taken from the cache and given back; of one node of a graph that core
# replays.
PARTS = {"allocate_free": 80, "graph_node": 30}


def main():
    run = subprocess.run([sys.argv[1], "--counts", "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"bench-dispatch exits {run.returncode}: {run.stderr.strip()}")
    cost = json.loads(run.stdout)
    wrong = [f"{name} was not measured" for name, value in cost.items() if value is None]
    if not wrong:
        # A whole number, but for what the runs' starts differ in.
        for case, limit in LIMITS.items():
            instructions = cost[f"{case}_instructions"]
            if round(instructions) > limit:
                wrong.append(f"{case}: a call takes {instructions:.1f} instructions, more than {limit}")
            for name, most in ("locks", 1000 * LOCKS.get(case, 0)), ("allocations", 0):
                if cost[f"{case}_{name}"] > most:
                    wrong.append(f"{case}: 1000 calls take {cost[f'{case}_{name}']:.0f} {name}, and may take {most}")
        if cost["tensor_instructions"] > 1.5 * cost["op_call_instructions"]:
            wrong.append("a tensor costs more than one and a half calls")
        more = cost["typed_instructions"] - cost["by_hand_instructions"]
        if round(more) > TYPED:
            wrong.append(f"a typed call takes {more:.1f} instructions more than one by hand, more than {TYPED}")
        for part, limit in PARTS.items():
            instructions = cost[f"{part}_instructions"]
            if round(instructions) > limit:
                wrong.append(f"{part} takes {instructions:.1f} instructions, more than {limit}")
        one, many = cost["graph_1_instructions"], cost["graph_64_instructions"]
        if round(one) != round(many):
            wrong.append(f"launching a graph that its plugin recorded takes {one:.1f} instructions with one node and "
                         f"{many:.1f} with 64, and must not depend on the nodes")
    print(json.dumps(cost, indent=2))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
