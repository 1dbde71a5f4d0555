# SPDX-License-Identifier: Apache-2.0
"""What the README says there is has the tests that it names."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_each_feature_names_a_test_that_is_there():
    rows = re.findall(r"^\| .* \| `((?:opinfo/)?test_\w+\.py)::(test_\w+)` \|$", (HERE.parent / "README.md").read_text(), re.MULTILINE)
    assert len(rows) > 20
    for file, test in rows:
        assert f"\ndef {test}(" in (HERE / file).read_text(), f"{file}::{test}"
