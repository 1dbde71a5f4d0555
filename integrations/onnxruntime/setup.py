# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel: the package, and in onnxruntime_keyway/lib the provider, compiled against the libkeyway that pkg-config finds.
At run time it uses the libkeyway of the package keyway."""

import os
import platform
import re
import shlex
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


def pkg_config(*arguments):
    try:
        return shlex.split(subprocess.check_output(["pkg-config", *arguments, "keyway"], text=True))
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            "onnxruntime_keyway: pkg-config does not find keyway. Install Keyway (cmake --install ... --prefix PREFIX) and set "
            "PKG_CONFIG_PATH to PREFIX/lib/pkgconfig, or wherever keyway.pc lies."
        ) from error


class WithProvider(build_py):
    def run(self):
        super().run()
        library = Path(self.build_lib) / "onnxruntime_keyway" / "lib" / "libkeyway_ort.so"
        library.parent.mkdir(parents=True, exist_ok=True)
        compiler = shlex.split(os.environ.get("CC", "cc"))
        flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"]
        flags += ["-Wall", "-Wextra", "-Wpedantic", "-Werror", *shlex.split(os.environ.get("CFLAGS", ""))]
        sources = sorted(str(path) for path in Path("csrc").glob("*.c"))
        # Threads that have used it end at their own time, and call what it and libkeyway left for that.
        link = ["-Wl,-z,nodelete", *pkg_config("--cflags", "--libs"), "-Wl,-rpath,$ORIGIN/../../keyway/lib", "-o", str(library)]
        subprocess.run([*compiler, *flags, *sources, *link], check=True)


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class OfThisPlatform(bdist_wheel):
    """Serves every Python 3 on systems whose C library is at least as new as the newest symbol that is asked of it."""

    def get_tag(self):
        files = Path(self.bdist_dir).glob("onnxruntime_keyway/lib/*.so")
        versions = [int(minor) for path in files for minor in re.findall(rb"GLIBC_2\.(\d+)\0", path.read_bytes())]
        return "py3", "none", f"manylinux_2_{max(versions)}_{platform.machine()}"


version = pkg_config("--modversion")[0]
oldest = Path("versions").read_text().split()[0]
setup(
    version=version,
    install_requires=[f"keyway-runtime=={version}", f"onnxruntime>={oldest}"],
    distclass=Binary,
    cmdclass={"build_py": WithProvider, "bdist_wheel": OfThisPlatform},
)
