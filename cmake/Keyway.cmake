# SPDX-License-Identifier: Apache-2.0
# Helpers every folder uses: flags, plugins, tests, and the table of what was found.

set(KEYWAY_SANITIZE "" CACHE STRING "Sanitizers to build with, comma-separated: address,undefined or thread")
option(KEYWAY_WERROR "Warnings are errors, as in the presets: for developers, whose compilers are known" OFF)

add_library(keyway_flags INTERFACE)
target_compile_features(keyway_flags INTERFACE c_std_11)
target_compile_options(keyway_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off -fno-math-errno
                                              $<$<C_COMPILER_ID:GNU>:-fno-trapping-math>)
if(KEYWAY_WERROR)
  target_compile_options(keyway_flags INTERFACE -Werror)
endif()
if(KEYWAY_SANITIZE)
  target_compile_options(keyway_flags INTERFACE -fsanitize=${KEYWAY_SANITIZE} -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  target_link_options(keyway_flags INTERFACE -fsanitize=${KEYWAY_SANITIZE})
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON) # POSIX and GNU interfaces of libc
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_definitions(_GNU_SOURCE)

# ---- The feature table -----------------------------------------------------------------------------------------------

set_property(GLOBAL PROPERTY KEYWAY_FEATURES "")

# kw_feature(NAME FOUND PACKAGE WHAT): one line of the table printed at the end of configuration.
function(kw_feature name found package what)
  if(found)
    set(line "found    ")
    set(tail "${what}")
  else()
    set(line "skipped  ")
    set(tail "${what} (install ${package})")
  endif()
  string(LENGTH "${name}" length)
  math(EXPR pad "12 - ${length}")
  if(pad LESS 1)
    set(pad 1)
  endif()
  string(REPEAT " " ${pad} space)
  set_property(GLOBAL APPEND PROPERTY KEYWAY_FEATURES "  ${name}${space}${line}${tail}")
endfunction()

function(kw_print_feature_table)
  get_property(lines GLOBAL PROPERTY KEYWAY_FEATURES)
  message(STATUS "Keyway ${PROJECT_VERSION} (${CMAKE_BUILD_TYPE}, ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}):")
  foreach(line IN LISTS lines)
    message(STATUS "${line}")
  endforeach()
endfunction()

# kw_require(PREFIX MODULE PACKAGE WHAT): a library that pkg-config knows, as PkgConfig::PREFIX. Those that are missing
# are collected in KEYWAY_MISSING.
macro(kw_require prefix module package what)
  pkg_check_modules(${prefix} IMPORTED_TARGET ${module})
  kw_feature(${module} "${${prefix}_FOUND}" ${package}${KEYWAY_PACKAGE_SUFFIX} "${what}")
  if(NOT ${prefix}_FOUND)
    list(APPEND KEYWAY_MISSING ${package}${KEYWAY_PACKAGE_SUFFIX})
  endif()
endmacro()

macro(kw_find_dependencies)
  find_package(Threads REQUIRED)
  find_package(PkgConfig REQUIRED)
  set(KEYWAY_MISSING)
  kw_require(CJSON libcjson libcjson-dev "JSON in reports")
  kw_require(LIBMD libmd libmd-dev "SHA-256 of plugins, in verdicts and in lists of trust")
  kw_require(CMOCKA cmocka libcmocka-dev "unit tests and contract suites")
  if(KEYWAY_MISSING)
    list(JOIN KEYWAY_MISSING " " missing)
    message(FATAL_ERROR "Keyway needs what is missing here. Install ${missing}: scripts/setup.sh installs everything")
  endif()
  find_package(OpenCL QUIET)
  kw_feature(opencl "${OpenCL_FOUND}" "ocl-icd-opencl-dev${KEYWAY_PACKAGE_SUFFIX} opencl-headers" "backend opencl")
  pkg_check_modules(CLBLAST IMPORTED_TARGET clblast)
  kw_feature(clblast "${CLBLAST_FOUND}" libclblast-dev${KEYWAY_PACKAGE_SUFFIX}
             "its matrix product as a kernel of opencl, and its bench")
  pkg_check_modules(SLEEF IMPORTED_TARGET sleef)
  kw_feature(sleef "${SLEEF_FOUND}" libsleef-dev${KEYWAY_PACKAGE_SUFFIX}
             "vectors of the math library, in cpu's fast kernels")
  pkg_check_modules(SECCOMP IMPORTED_TARGET libseccomp)
  kw_feature(seccomp "${SECCOMP_FOUND}" libseccomp-dev${KEYWAY_PACKAGE_SUFFIX}
             "filter of system calls for plugins in their own process")
  if(NOT CMAKE_CROSSCOMPILING) # a program of this build takes part in compiling its kernels
    find_path(LEVEL_ZERO_INCLUDE level_zero/ze_api.h)
    find_program(CLANG_15 clang-15)
    find_program(LLVM_SPIRV_15 llvm-spirv-15)
    if(LEVEL_ZERO_INCLUDE AND CLANG_15 AND LLVM_SPIRV_15)
      set(LEVEL_ZERO_FOUND TRUE)
    endif()
    kw_feature(levelzero "${LEVEL_ZERO_FOUND}" "libze-dev clang-15 llvm-spirv-15" "backend levelzero")
    find_program(LLD_15 ld.lld-15)
    kw_feature(lld "${LLD_15}" lld-15 "Level Zero's test driver")
    find_program(SPIRV_VAL spirv-val)
    kw_feature(spirv-val "${SPIRV_VAL}" spirv-tools "test of the kernels' SPIR-V")
    find_program(VALGRIND valgrind)
    kw_feature(valgrind "${VALGRIND}" valgrind "instruction counts, leak tests")
  endif()
  # The compiler that the CPU engine calls: the one chosen for C++, which in a cross build is the target's.
  if(CMAKE_CXX_COMPILER OR CMAKE_CROSSCOMPILING)
    find_program(CXX NAMES ${CMAKE_CXX_COMPILER})
  else()
    find_program(CXX NAMES $ENV{CXX} c++)
  endif()
  kw_feature(c++ "${CXX}" g++${KEYWAY_CROSS_SUFFIX} "test of the portable kernels without a driver")
  find_program(XMLLINT xmllint)
  kw_feature(xmllint "${XMLLINT}" libxml2-utils "test of JUnit reports")
  find_program(HERD7 herd7)
  kw_feature(herd7 "${HERD7}" "herdtools7, by opam" "models of the memory order")
  find_program(MINISIGN minisign)
  kw_feature(minisign "${MINISIGN}" minisign "signatures of certification packages, when keyway runs, and their test")
  find_library(SODIUM NAMES libsodium.so.23 libsodium.so.26)
  kw_feature(libsodium "${SODIUM}" libsodium23${KEYWAY_PACKAGE_SUFFIX}
             "minisign keys in lists of trust, when keyway runs, and their test")
  find_program(PYTHON3 python3)
  kw_feature(python3 "${PYTHON3}" python3 "tests of the program, of scripts and of the tree")
  if(PYTHON3)
    execute_process(COMMAND ${PYTHON3} -c "import numpy" RESULT_VARIABLE no_numpy OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(PYTHON3 AND NOT no_numpy)
    set(NUMPY_FOUND TRUE)
  endif()
  kw_feature(numpy "${NUMPY_FOUND}" python3-numpy "tests of tensors that Python's libraries share")
  find_program(PERL perl)
  kw_feature(perl "${PERL}" perl "test of TAP reports")
  if(CMAKE_CROSSCOMPILING)
    find_program(QEMU qemu-${CMAKE_SYSTEM_PROCESSOR})
    kw_feature(emulator "${QEMU}" qemu-user "the tests: scripts/${CMAKE_SYSTEM_PROCESSOR}.sh")
  endif()
endmacro()

# ---- Targets ---------------------------------------------------------------------------------------------------------

# kw_folder_sources(VARIABLE FOLDERS...): every C file of the folders but tests, in alphabetical order.
function(kw_folder_sources variable)
  set(sources)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.c)
    list(FILTER found EXCLUDE REGEX "_test\\.c$")
    list(APPEND sources ${found})
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# kw_optimise(LEVEL TARGETS...): by -O1 or -O2 in place of a release's -O3, which takes the compiler up to four times as
# long: what no kernel and no call waits for.
function(kw_optimise level)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  endforeach()
endfunction()

# kw_add_plugin(NAME SOURCES... [LIBS ...] [DIRECTORY ...] [EXPORTS ...]): a plugin keyway_NAME.so in
# lib/keyway/plugins, or in DIRECTORY, that exports its query symbol only, or what the version script EXPORTS says. Its
# manifest, keyway_NAME.keyway.json, lies beside its sources where it has one. KEYWAY_PLUGIN_VERSION is the text of the
# version that the plugins of this tree say of themselves.
function(kw_add_plugin name)
  cmake_parse_arguments(ARG "" "DIRECTORY;EXPORTS" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_DIRECTORY)
    set(ARG_DIRECTORY ${PROJECT_BINARY_DIR}/lib/${KEYWAY_PLUGIN_SUBDIR})
  endif()
  if(NOT ARG_EXPORTS)
    set(ARG_EXPORTS ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  endif()
  set(target keyway_${name})
  add_library(${target} MODULE ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE keyway_flags keyway_abi ${ARG_LIBS})
  target_compile_definitions(${target} PRIVATE KEYWAY_PLUGIN_VERSION="${PROJECT_VERSION}")
  target_link_options(${target} PRIVATE LINKER:--version-script=${ARG_EXPORTS}
                                        LINKER:-Bsymbolic)
  set(manifest ${target}.keyway.json)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${manifest})
    configure_file(${manifest} ${ARG_DIRECTORY}/${manifest} COPYONLY)
  endif()
  if(NOT KEYWAY_SANITIZE) # a sanitizer's runtime comes with the program
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${ARG_DIRECTORY}
                        LINK_DEPENDS ${ARG_EXPORTS})
endfunction()

# kw_add_test(NAME SOURCES... [LIBS ...] [LABELS ...]): a cmocka program, registered with ctest.
function(kw_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE keyway_flags keyway_abi ${ARG_LIBS} PkgConfig::CMOCKA)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  # For what hangs. An emulator takes ten times as long, and its machine may have other things to do.
  set(limit $<IF:$<BOOL:${CMAKE_CROSSCOMPILING}>,6000,600>)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS "${ARG_LABELS}")
endfunction()
