# SPDX-License-Identifier: Apache-2.0
"""Builds torch_keyway._C against the installed PyTorch and the libkeyway that pkg-config finds, which it uses where that lies. With
TORCH_KEYWAY_LIBRARY=package it uses the one of the package keyway, which it then depends on: a wheel for other machines."""

import os
import shlex
import subprocess
from pathlib import Path

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, include_paths


def pkg_config(*arguments):
    try:
        return shlex.split(subprocess.check_output(["pkg-config", *arguments, "keyway"], text=True))
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            "torch_keyway: pkg-config does not find keyway. Install Keyway (cmake --install ... --prefix PREFIX) and set "
            "PKG_CONFIG_PATH to PREFIX/lib/pkgconfig, or wherever keyway.pc lies."
        ) from error


version = pkg_config("--modversion")[0]
of_package = os.environ.get("TORCH_KEYWAY_LIBRARY") == "package"
library_folder = "$ORIGIN/../keyway/lib" if of_package else pkg_config("--variable=libdir")[0]
extension = CppExtension(
    "torch_keyway._C",
    sorted(str(path) for path in Path("csrc").glob("*.cpp")),
    extra_compile_args=[
        *("-std=c++20", "-O2", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"),
        *pkg_config("--cflags"),
    ],
    extra_link_args=[*pkg_config("--libs"), f"-Wl,-rpath,{library_folder}"],
)
# PyTorch's headers as the system's: what they are warned of is not ours. Kineto's, which its own include, lie one deeper.
folders = [*extension.include_dirs, include_paths()[0] + "/kineto"]
extension.extra_compile_args += [f"-isystem{folder}" for folder in folders]
extension.include_dirs = []
# No path of this machine's in what messages say of where they come from.
for folder, name in [(Path.cwd(), "torch_keyway"), (Path(torch.__file__).parent, "torch")]:
    extension.extra_compile_args.append(f"-ffile-prefix-map={folder}={name}")
# PyTorch's C++ interface holds within a minor version. The package's own name says which, and torch_keyway reads it there.
minor = ".".join(torch.__version__.split(".")[:2])
setup(
    version=f"{version}+torch{minor}",
    install_requires=[f"torch=={minor}.*", *([f"keyway-runtime=={version}"] if of_package else [])],
    ext_modules=[extension],
    cmdclass={"build_ext": BuildExtension},
)
