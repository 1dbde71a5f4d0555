# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel: the package, and in keyway/lib the libkeyway that pkg-config finds, its helpers, the plugins named
below, and the libraries that these need and a bare system lacks. Nothing is compiled."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

# Those that run anywhere, or say why not: without a loader of OpenCL the latter is not opened.
PLUGINS = ("cpu", "opencl")
# Every system with Python has these, or else brings them with the driver that needs them.
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|OpenCL))\.so(\..*)?$")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def pkg_config(*arguments):
    try:
        return output("pkg-config", *arguments, "keyway")
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            "keyway: pkg-config does not find keyway. Install Keyway (cmake --install ... --prefix PREFIX) and set "
            "PKG_CONFIG_PATH to PREFIX/lib/pkgconfig, or wherever keyway.pc lies."
        ) from error


def needed(file):
    """The libraries that a file needs beyond the system's, as paths."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", str(file)), re.MULTILINE)
    return [Path(path) for name, path in found if not OF_THE_SYSTEM.match(name) and not name.startswith("libkeyway")]


def copyright_of(library):
    """The file in which Debian's package of a library says its licence, if there is one."""
    for path in (library, library.resolve()):
        owner = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True)
        if owner.returncode == 0:
            return Path("/usr/share/doc") / owner.stdout.split(":")[0] / "copyright"
    return None


class WithLibrary(build_py):
    def run(self):
        super().run()
        source, lib = Path(pkg_config("--variable=libdir")), Path(self.build_lib) / "keyway" / "lib"
        shutil.rmtree(lib, ignore_errors=True)
        files = {source / "libkeyway.so.1": lib / "libkeyway.so.1"}
        for helper in ("keyway-probe", "keyway-plugin-host"):
            files[source / "keyway" / helper] = lib / "keyway" / helper
        for plugin in PLUGINS:
            for path in sorted((source / "keyway" / "plugins").glob(f"keyway_{plugin}.*")):
                files[path] = lib / "keyway" / "plugins" / path.name
        licence = Path(pkg_config("--variable=prefix")) / "share" / "doc" / "keyway" / "LICENSE"
        if licence.exists():
            shutil.copy(licence, lib.parent)
        for path, copy in files.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        self.add_dependencies(lib, [copy for copy in files.values() if copy.suffix != ".json"])

    def add_dependencies(self, lib, files):
        needs = lib / "needs"
        needs.mkdir()
        for file in files:
            up = "/.." * len(file.relative_to(lib).parent.parts)
            for library in needed(file):
                shutil.copy(library, needs / library.name)
                terms = copyright_of(library)
                if terms and terms.exists():
                    shutil.copy(terms, needs / f"{library.name}.copyright")
            output("patchelf", "--set-rpath", f"$ORIGIN{up}/needs", str(file))
        for library in needs.glob("*.so*"):
            if library.suffix != ".copyright":
                output("patchelf", "--set-rpath", "$ORIGIN", str(library))


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class OfThisPlatform(bdist_wheel):
    """Serves every Python 3 on systems whose C library is at least as new as the newest symbol that is asked of it."""

    def get_tag(self):
        files = [path for path in Path(self.bdist_dir).glob("keyway/lib/**/*") if path.is_file()]
        versions = [int(minor) for path in files for minor in re.findall(rb"GLIBC_2\.(\d+)\0", path.read_bytes())]
        return "py3", "none", f"manylinux_2_{max(versions)}_{platform.machine()}"


commands = {"build_py": WithLibrary, "bdist_wheel": OfThisPlatform}
setup(version=pkg_config("--modversion"), distclass=Binary, cmdclass=commands)
