# SPDX-License-Identifier: Apache-2.0
"""Level one: what became of each sample of PyTorch's databases, and the table of that.

A sample counts once, forward and backward together. It is not applicable when it stops at an operator or a dtype that the op
set does not have, as the bridge's own error says, or has nothing that can lie on a device. What PyTorch's CPU refuses is no
sample, since nothing says what should come out."""

import collections
import json

REFUSED = "refused by PyTorch's CPU"
FAILED = ("listed", "failed")

_counts = collections.Counter()  # by database, dtype and what became of a sample
_failing = collections.Counter()  # by database, reason, operator and dtype


def note(database, dtype, outcomes, name, reasons):
    """Takes the outcomes of a sample on its ways, and why it fails if it does."""
    failed = any(outcome in FAILED for outcome in outcomes)
    stopped = [outcome for outcome in outcomes if not outcome.startswith("passed")]
    _counts[database, dtype, "failed" if failed else stopped[0] if stopped else "passed"] += 1
    for reason in dict.fromkeys(reasons):
        _failing[database, reason, name, dtype] += 1


def write(path, **facts):
    """Puts all that was noted, and `facts` about the run, into a file that `read` reads."""
    with open(path, "w") as file:
        json.dump(facts | {"counts": [[*key, n] for key, n in _counts.items()],
                           "failing": [[*key, n] for key, n in _failing.items()]}, file)


def noted():
    return _counts, _failing


def read(path):
    """(counts, failing, facts)."""
    with open(path) as file:
        facts = json.load(file)
    counts, failing = (collections.Counter({tuple(key): n for *key, n in facts.pop(name)}) for name in ("counts", "failing"))
    return counts, failing, facts


def _share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def _row(what, kinds):
    passed, failed = kinds["passed"], kinds["failed"]
    everything = kinds.total() - kinds[REFUSED]
    applicable = passed + failed
    return (f"| {what} | {everything} | {everything - applicable} | {applicable} | {passed} | {failed} | "
            f"{_share(passed, applicable)} | {_share(passed, everything)} | {kinds[REFUSED]} |")


def table(counts):
    """A row for each database and dtype, and one for all of them, in Markdown."""
    rows, all_kinds = collections.defaultdict(collections.Counter), collections.Counter()
    for (database, dtype, kind), n in counts.items():
        rows[f"{database} {dtype}"][kind] += n
        all_kinds[kind] += n
    return ["| samples | all | not applicable | applicable | passed | failed | of the applicable | of all | "
            "no sample on the CPU |", "|---|---|---|---|---|---|---|---|---|",
            *(_row(what, kinds) for what, kinds in rows.items()), _row("together", all_kinds)]


def why_not(counts):
    """Why samples are not applicable, the most frequent first."""
    why = collections.Counter()
    for (_, _, kind), n in counts.items():
        if kind not in ("passed", "failed", REFUSED):
            why[kind] += n
    return [f"- {n} {kind}" for kind, n in why.most_common()]


def rest(failing):
    """What fails, by reason, the most frequent first: operators with their dtypes."""
    by_reason = collections.defaultdict(collections.Counter)
    for (_, reason, name, dtype), n in failing.items():
        by_reason[reason][f"{name} {dtype}"] += n
    lines = []
    for reason, names in sorted(by_reason.items(), key=lambda item: -item[1].total()):
        shown = ", ".join(f"{name} {n}" for name, n in names.most_common())
        lines.append(f"- {names.total()}: {reason} ({shown})")
    return lines
