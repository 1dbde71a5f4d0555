#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: sbom.py VERSION FOLDER

Prints a bill of materials (SPDX 2.3, JSON) for the files of a release in FOLDER: each with its SHA-256, for Debian's
packages what they depend on, for the wheel which libraries it brings along. Its time is SOURCE_DATE_EPOCH, its name
follows from the hashes: the same files give the same text.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from pathlib import Path

NONE = "NOASSERTION"


def spdx_id(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(kind, name, version, licence, **more):
    return {"SPDXID": spdx_id(kind, name), "name": name, "versionInfo": version, "downloadLocation": NONE,
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": NONE, **more}


def purl(name, version=""):
    locator = f"pkg:deb/debian/{name}" + (f"@{version}" if version else "")
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]


def field(deb, name):
    return subprocess.run(["dpkg-deb", "-f", deb, name], capture_output=True, text=True, check=True).stdout.strip()


def dependencies(deb):
    """(name, what version is asked for) of what a package depends on, of alternatives the first."""
    for word in filter(None, re.split(r",\s*", field(deb, "Depends"))):
        match = re.match(r"([a-z0-9.+-]+)(?:\s*\(([^)]*)\))?", word)
        yield match[1], match[2] or ""


def bundled(wheel):
    """The libraries of others that a wheel brings along."""
    with zipfile.ZipFile(wheel) as archive:
        return sorted(Path(name).name for name in archive.namelist() if re.search(r"/needs/[^/]*\.so[.0-9]*$", name))


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    version, folder = sys.argv[1], Path(sys.argv[2])
    packages, relations, digest = {}, [], hashlib.sha256()
    for path in sorted(each for each in folder.iterdir() if not each.name.endswith((".json", ".txt"))):
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{checksum} {path.name}\n".encode())
        sums = [{"algorithm": "SHA256", "checksumValue": checksum}]
        made = package("File", path.name, version, "Apache-2.0", packageFileName=path.name, checksums=sums)
        packages[made["SPDXID"]] = made
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", made["SPDXID"]))
        if path.suffix == ".whl":
            for name in bundled(path):
                inside = package("Bundled", name, NONE, NONE)
                packages.setdefault(inside["SPDXID"], inside)
                relations.append((made["SPDXID"], "CONTAINS", inside["SPDXID"]))
        if path.suffix != ".deb":
            continue
        made["externalRefs"] = purl(field(path, "Package"), version)
        for name, wanted in dependencies(path):
            if (folder / path.name.replace(path.name.split("_")[0], name, 1)).exists():
                other = spdx_id("File", path.name.replace(path.name.split("_")[0], name, 1))
            else:
                needed = package("Needed", name, wanted or NONE, NONE, externalRefs=purl(name))
                packages.setdefault(needed["SPDXID"], needed)
                other = needed["SPDXID"]
            relations.append((made["SPDXID"], "DEPENDS_ON", other))
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"keyway-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/keyway-{version}-{digest.hexdigest()}",
        "creationInfo": {"created": f"{created:%Y-%m-%dT%H:%M:%SZ}", "creators": ["Organization: Keyway maintainers",
                                                                                  f"Tool: keyway-sbom-{version}"]},
        "packages": list(packages.values()),
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations]}, indent=1))


if __name__ == "__main__":
    main()
