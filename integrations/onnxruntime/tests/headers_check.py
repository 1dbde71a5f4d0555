# SPDX-License-Identifier: Apache-2.0
"""usage: headers_check.py [FOLDER]

Compares the provider's own declarations of ONNX Runtime's C API, csrc/ort_types.h and csrc/ort_tables.h, with a packaged
header: numbers of enumerators, places of slots, and signatures where they name no type of the provider's. FOLDER has
onnxruntime_c_api.h; without one it is that of Debian sid's libonnxruntime-dev, fetched and unpacked under build/, not
installed. What API 24 and newer ones appended is in no packaged header yet, and counted."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CSRC, BUILD = HERE.parent / "csrc", HERE.parents[2] / "build" / "onnxruntime-headers"
TABLES = {
    "ort_api_base": "OrtApiBase",
    "ort_api": "OrtApi",
    "ort_ep_api": "OrtEpApi",
    "ort_allocator": "OrtAllocator",
    "ort_data_transfer": "OrtDataTransferImpl",
    "ort_sync_notification": "OrtSyncNotificationImpl",
    "ort_sync_stream": "OrtSyncStreamImpl",
    "ort_ep": "OrtEp",
    "ort_ep_factory": "OrtEpFactory",
}


def fetched():
    """Debian sid's header, by apt with lists and a cache of its own."""
    state = BUILD / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "sid.sources").write_text(
        "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: sid\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )
    settings = {"sourcelist": "sid.sources", "sourceparts": "none"}
    options = [f"Dir::Etc::{key}={state / value}" for key, value in settings.items()]
    options += [f"Dir::State::lists={state / 'lists'}", f"Dir::Cache={state / 'cache'}", "APT::Sandbox::User=root"]
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "download", "libonnxruntime-dev"], check=True, cwd=BUILD)
    package = max(BUILD.glob("libonnxruntime-dev_*.deb"))
    subprocess.run(["dpkg", "-x", str(package), str(BUILD / "root")], check=True)
    return BUILD / "root" / "usr" / "include" / "onnxruntime", package.name


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def slots(table, text):
    """(name, signature) of every slot that is not merely counted, up to what API 24 appended; and how many are after it."""
    body = re.search(rf"typedef struct {table} {{(.*?)\n}} {table};", text, re.DOTALL)[1]
    packaged, _, newer = body.partition("/* Appended by API 24. */")
    found = re.findall(r"\(\*(\w+)\)\((.*?)\);", without_comments(packaged), re.DOTALL)
    return found, len(re.findall(r"\(\*(\w+)\)\(", newer))


def checks(tables, types):
    for name, number in re.findall(r"\b(\w+) = (-?\d+)", without_comments(types)):
        yield f'_Static_assert({name} == {number}, "{name}");'
    for ours, theirs in TABLES.items():
        for slot, signature in slots(ours, tables)[0]:
            yield f'_Static_assert(offsetof({ours}, {slot}) == offsetof({theirs}, {slot}), "place of {theirs}.{slot}");'
            if "ort_" not in signature and slot not in ("GetApi", "GetEpApi"):
                yield (
                    f"_Static_assert(__builtin_types_compatible_p(__typeof__((({ours} *)0)->{slot}), "
                    f'__typeof__((({theirs} *)0)->{slot})), "signature of {theirs}.{slot}");'
                )


def main():
    folder, name = (Path(sys.argv[1]), sys.argv[1]) if len(sys.argv) > 1 else fetched()
    tables, types = ((CSRC / file).read_text() for file in ("ort_tables.h", "ort_types.h"))
    lines = list(checks(tables, types))
    program = '#include <stddef.h>\n#include "onnxruntime_c_api.h"\n#define KEYWAY_ORT_TYPES_H\n#include "ort_tables.h"\n' + "\n".join(lines)
    command = ["cc", "-std=gnu11", "-fsyntax-only", f"-I{folder}", f"-I{CSRC}", "-x", "c", "-"]
    if subprocess.run(command, input=program + "\n", text=True).returncode != 0:
        raise SystemExit(f"headers_check.py: the declarations in {CSRC} are not those of {name}: see above")
    newer = sum(slots(ours, tables)[1] for ours in TABLES)
    print(f"{len(lines)} numbers, places and signatures are those of {name}; {newer} slots of API 24 and newer are in no package yet")


if __name__ == "__main__":
    main()
