#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the gate of the ABI (scripts/abi_rules.py) see what may not happen? Every forbidden edit is made on a copy of
the headers, and the gate has to name it in a sentence; what a minor version may add passes.
"""
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import abi_layout  # noqa: E402
import abi_rules  # noqa: E402

NEEDED = ["abi/include", "abi/slots.def", "conformance/contract/contract_suites.h", "conformance/mutants/mutants.list",
          "tests/loader_test.c"]
PLUGIN, TYPES, KEYWAY = (f"abi/include/keyway/{name}.h" for name in ("plugin", "types", "keyway"))
SLOTS, MUTANTS = "abi/slots.def", "conformance/mutants/mutants.list"

MINOR = (TYPES, "KW_ABI_MAKE(1, 0)     /*", "KW_ABI_MAKE(1, 1) /*")
MAJOR = (TYPES, "KW_ABI_MAKE(1, 0)     /*", "KW_ABI_MAKE(2, 0) /*")
APPENDED_SLOT = [(PLUGIN, "} kw_stream_api;",
                  "  kw_status(KW_CALL *rest)(void *device, void *stream);\n} kw_stream_api;")]
SLOT_ROW = "KW_SLOT(stream, rest, {}, (void *device, void *stream), (device, stream))\nKW_SLOT_GROUP(event,"
NEW_GROUP = [(PLUGIN, "#define KW_GROUP_DEVICE", """typedef struct kw_power_api {
  uint32_t struct_size;
  uint32_t reserved;
  kw_status(KW_CALL *limit)(void *device, uint64_t watts);
} kw_power_api;
#define KW_GROUP_POWER "keyway.power/1"
#define KW_POWER_API_MIN 16u
#define KW_GROUP_DEVICE""")]
GROUP_ROW = ("KW_SLOT_GROUP(power, POWER, {}, 0, \"\")\n"
             "KW_SLOT(power, limit, 1, 1, (void *device, uint64_t watts), (device, watts))\nKW_SLOT_GROUP(event,")
TAG = re.compile(r"\s\*? *\[environment/stdout_untouched\]")


def in_struct(name, old, new):
    """An edit within `typedef struct NAME { ... } NAME;` of a header"""
    return lambda text: re.sub(rf"(typedef struct {name} {{)(.*?)(\n}} {name};)",
                               lambda found: found[1] + found[2].replace(old, new, 1) + found[3], text, flags=re.S)


# What is done; the edits (file, what, instead | a function); what the sentence says.
FORBIDDEN = [
    ("a slot is inserted",
     [(PLUGIN, in_struct("kw_memory_api", "  kw_status(KW_CALL *fill)",
                         "  kw_status(KW_CALL *zero)(void *device);\n  kw_status(KW_CALL *fill)")),
      (SLOTS, "KW_SLOT(memory, fill,",
       "KW_SLOT(memory, zero, 1, 0, (void *device), (device))\nKW_SLOT(memory, fill,"), MINOR],
     r"kw_memory_api\.fill was at byte 32 in 1\.0 and is at 40: zero was inserted before it"),
    ("fields change places", [(PLUGIN, in_struct("kw_copy_info", "  void *dst_host;\n  kw_mem dst_mem;",
                                                 "  kw_mem dst_mem;\n  void *dst_host;"))],
     r"kw_copy_info: dst_mem and dst_host have changed places"),
    ("a struct by value grows", [(TYPES, "uint64_t bits[2];", "uint64_t bits[2], more;"), MINOR],
     r"kw_dtype_mask travels by value or in arrays: it has 16 bytes for ever, not 24"),
    ("an entry's head grows", [(TYPES, in_struct("kw_ext", "const struct kw_ext *next;",
                                                 "const struct kw_ext *next;\n  uint64_t more;")), MINOR],
     r"kw_ext travels by value or in arrays: it has 16 bytes"),
    ("an enumerator is renumbered", [(TYPES, "KW_ERR_BUSY = 8", "KW_ERR_BUSY = 15")],
     r"the enumerator KW_ERR_BUSY was 8 in 1\.0 and is 15"),
    ("an enumerator is taken away", [(TYPES, "KW_DEVICE_GPU = 2, ", "")],
     r"the enumerator KW_DEVICE_GPU of 1\.0 is gone"),
    ("a macro changes", [(TYPES, "KW_WAIT_FOREVER UINT64_MAX", "KW_WAIT_FOREVER INT64_MAX")],
     r"the macro KW_WAIT_FOREVER was .* in 1\.0 and is"),
    ("a slot's signature changes", [(PLUGIN, "*dealloc)(void *device, kw_mem mem)",
                                     "*dealloc)(void *device, kw_mem mem, uint64_t size)"), MINOR],
     r"the signature of kw_memory_api\.dealloc was `kw_status\(\*dealloc\)\(void \*device, kw_mem mem\)`"),
    ("a function's signature changes", [(KEYWAY, "kw_device_close(kw_device *device)",
                                         "kw_device_close(kw_device *device, bool now)")],
     r"the function kw_device_close was .* in 1\.0"),
    ("a function is taken away", [(KEYWAY, re.compile(r"KW_API kw_status kw_device_close\(.*?;"), "")],
     r"the function kw_device_close of 1\.0 is gone"),
    ("a field's type changes", [(PLUGIN, in_struct("kw_rng", "uint64_t seed;", "double seed;"))],
     r"the type of kw_rng\.seed was `uint64_t seed` in 1\.0 and is `double seed`"),
    ("a floor is raised", [(PLUGIN, re.compile(r"(#define KW_COPY_INFO_MIN) \d+u"), r"\1 80u")],
     r"the floor KW_COPY_INFO_MIN was raised from \d+ to 80"),
    ("a floor is lowered", [(PLUGIN, re.compile(r"(#define KW_MEMORY_API_MIN) \d+u"), r"\1 32u")],
     r"the floor KW_MEMORY_API_MIN was lowered from \d+ to 32"),
    ("a floor moves with its struct", [(PLUGIN, re.compile(r"(#define KW_CALL_MIN) \d+u"),
                                        r"\1 ((uint32_t)sizeof(kw_call))")],
     r"the floor KW_CALL_MIN is no literal number"),
    ("a reserved field has a meaning", [(PLUGIN, in_struct("kw_stream_info", "reserved;", "priority;"))],
     r"kw_stream_info\.reserved has a meaning now \(priority\) and the version is still 1\.0"),
    ("a field is renamed", [(PLUGIN, in_struct("kw_alloc_info", "alignment;", "align;")), MINOR],
     r"kw_alloc_info\.alignment of 1\.0 is gone; align is in its place"),
    ("a field leaves a hole", [(PLUGIN, "} kw_copy_info;", "  uint32_t more;\n} kw_copy_info;"), MINOR],
     r"kw_copy_info has 4 bytes without a name at byte \d+"),
    ("a slot comes without a version", [*APPENDED_SLOT, (SLOTS, "KW_SLOT_GROUP(event,", SLOT_ROW.format("1, 0"))],
     r"kw_stream_api's field rest is new and the version is still 1\.0"),
    ("a new slot is required", [*APPENDED_SLOT, (SLOTS, "KW_SLOT_GROUP(event,", SLOT_ROW.format("1, 1")), MINOR],
     r"the slot stream\.rest is new and required"),
    ("a new slot claims to be old", [*APPENDED_SLOT, (SLOTS, "KW_SLOT_GROUP(event,", SLOT_ROW.format("0, 0")), MINOR],
     r"the slot stream\.rest is not in 1\.0"),
    ("an optional slot becomes required", [(SLOTS, "KW_SLOT(memory, fill, 0, 0", "KW_SLOT(memory, fill, 0, 1"), MINOR],
     r"the slot memory\.fill was optional in 1\.0 and cannot become required"),
    ("an optional group becomes required", [(SLOTS, "KW_SLOT_GROUP(event, EVENT, 0", "KW_SLOT_GROUP(event, EVENT, 1"),
                                            MINOR],
     r"the group keyway\.event/1 was optional in 1\.0 and stays so"),
    ("a new group is required", [*NEW_GROUP, (SLOTS, "KW_SLOT_GROUP(event,", GROUP_ROW.format(1)), MINOR],
     r"the group keyway\.power/1 is new and required"),
    ("the table of slots lacks one", [(SLOTS, re.compile(r"KW_SLOT\(memory, usage.*?\)\)\n", re.S), "")],
     r"kw_memory_api in plugin\.h has usage where slots\.def has alloc_host"),
    ("an enumerator comes without a version", [(TYPES, "KW_DEVICE_FPGA = 4", "KW_DEVICE_FPGA = 4, KW_DEVICE_DSP = 5")],
     r"the enumerator KW_DEVICE_DSP is new and the version is still 1\.0"),
    ("a status takes another's number",
     [(TYPES, "  KW_ERR_CANCELLED =", "  KW_ERR_TIRED = KW_CLASS_RETRY << 24 | 1,\n  KW_ERR_CANCELLED ="), MINOR],
     r"KW_ERR_TIRED and KW_ERR_CANCELLED have one number"),
    ("a MUST has no tag", [(PLUGIN, TAG, "")], r"a MUST without a tag that names its check: .MUST NOT write to stdout"),
    ("a MUST has no check", [(PLUGIN, "[environment/stdout_untouched]", "[environment/quiet]")],
     r"there is no check environment/quiet"),
    ("a MUST has no mutant", [(MUTANTS, lambda text: re.sub(r"(?m)^.*environment/stdout_untouched\$\n", "", text))],
     r"MUST 1 times and 0 mutants that environment/stdout_untouched finds"),
    ("the version goes back", [(TYPES, "KW_ABI_MAKE(1, 0)     /*", "KW_ABI_MAKE(0, 9) /*")],
     r"KW_ABI_VERSION is 0\.9, and 1\.0 is frozen"),
    ("a later major moves what stays for ever",
     [MAJOR, (PLUGIN, in_struct("kw_query_info", "  uint32_t abi_min;", "  uint32_t flavour;\n  uint32_t abi_min;"))],
     r"kw_query_info\.abi_min lies within the first 24 bytes, which stay for ever"),
]

ALLOWED = [
    ("nothing", []),
    ("a slot is appended", [*APPENDED_SLOT, (SLOTS, "KW_SLOT_GROUP(event,", SLOT_ROW.format("1, 0")), MINOR]),
    ("a field is appended", [(PLUGIN, "} kw_call;", "  uint64_t more;\n} kw_call;"), MINOR]),
    ("an optional group comes", [*NEW_GROUP, (SLOTS, "KW_SLOT_GROUP(event,", GROUP_ROW.format(0)), MINOR]),
    ("enumerators and a set of dtypes grow",
     [(TYPES, "KW_DEVICE_FPGA = 4", "KW_DEVICE_FPGA = 4, KW_DEVICE_DSP = 5"),
      (TYPES, "#define KW_DTYPES_BOOL KW_DTYPE_BIT(KW_BOOL)",
       "#define KW_DTYPES_BOOL (KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(60))"), MINOR]),
    ("a later version uses a reserved field", [(PLUGIN, in_struct("kw_stream_info", "reserved;", "priority;")), MINOR]),
    ("applications get a function", [(KEYWAY, "KW_API kw_status kw_device_close(",
                                      "KW_API kw_status kw_device_nap(void);\nKW_API kw_status kw_device_close(")]),
    ("a later major arranges slots anew", [(PLUGIN, in_struct("kw_copy_info", "  void *dst_host;\n  kw_mem dst_mem;",
                                                              "  kw_mem dst_mem;\n  void *dst_host;")), MAJOR]),
]


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.frozen = Path(cls.folder.name) / "frozen"
        for path in NEEDED:
            (cls.frozen / path).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / path).is_dir() else shutil.copy)(ROOT / path, cls.frozen / path)
        tree = abi_rules.Tree(cls.frozen)
        abi_rules.write_floors(tree)
        snapshot = cls.frozen / "abi/frozen/1.0"
        snapshot.mkdir(parents=True)
        (snapshot / "layout.txt").write_text("\n".join(abi_layout.layout("gcc")))
        (snapshot / "symbols.txt").write_text("\n".join(tree.table.functions))
        shutil.copy(ROOT / SLOTS, snapshot)
        cls.before = cls.sentences(cls.frozen)  # what the tree lacks already is the gate's business, not this test's

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def sentences(tree, symbols=None):
        return [re.sub(r"^plugin\.h:\d+", "plugin.h", text) for text in abi_rules.faults(tree, symbols)[1]]

    def edited(self, edits):
        """The sentences of the gate about a tree with these edits"""
        tree = Path(self.folder.name) / "edited"
        shutil.copytree(self.frozen, tree)
        try:
            for path, what, *instead in edits:
                before = (tree / path).read_text()
                if callable(what):
                    after = what(before)
                elif isinstance(what, re.Pattern):
                    after = what.sub(instead[0], before, count=1)
                else:
                    after = before.replace(what, instead[0], 1)
                (tree / path).write_text(after)
            return self.sentences(tree)
        finally:
            shutil.rmtree(tree)

    def test_forbidden(self):
        for what, edits, sentence in FORBIDDEN:
            with self.subTest(what):
                self.assertRegex("\n".join(self.edited(edits)), sentence)

    def test_allowed(self):
        for what, edits in ALLOWED:
            with self.subTest(what):
                self.assertEqual(self.edited(edits), self.before)

    def test_symbol_no_longer_exported(self):
        listed = Path(self.folder.name) / "symbols.txt"
        names = (self.frozen / "abi/frozen/1.0/symbols.txt").read_text().split()
        listed.write_text("\n".join(name for name in names if name != "kw_op_call"))
        self.assertEqual(self.sentences(self.frozen, listed),
                         [*self.before, "libkeyway no longer exports kw_op_call, which it did in 1.0"])


if __name__ == "__main__":
    unittest.main()
