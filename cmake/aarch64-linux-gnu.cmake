# SPDX-License-Identifier: Apache-2.0
# Toolchain: aarch64 Linux, by Debian's cross compiler and its libraries for arm64 beside this machine's. The preset
# aarch64 uses it; scripts/setup.sh --aarch64 installs what it needs, scripts/aarch64.sh runs what it makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# What to install, where a line of the feature table names it.
set(KEYWAY_PACKAGE_SUFFIX :arm64)
set(KEYWAY_CROSS_SUFFIX -aarch64-linux-gnu)

find_program(AARCH64_GCC aarch64-linux-gnu-gcc)
if(NOT AARCH64_GCC)
  message(FATAL_ERROR "there is no aarch64-linux-gnu-gcc. Install gcc-aarch64-linux-gnu: scripts/setup.sh --aarch64 "
                      "installs all that this build needs")
endif()
set(CMAKE_C_COMPILER ${AARCH64_GCC})
find_program(AARCH64_GXX aarch64-linux-gnu-g++)
if(AARCH64_GXX)
  set(CMAKE_CXX_COMPILER ${AARCH64_GXX})
endif()

# Libraries are this machine's otherwise; headers of packages are the same for both.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
