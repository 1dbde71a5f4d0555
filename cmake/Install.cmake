# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. Everything is found relative to everything else, so the tree may be moved.
#
#   component sdk      headers, libkeyway, the plugin kit, CMake package, pkg-config: enough to build applications and
#                      plugins
#   component runtime  the programs, their helpers, the must-pass lists, the in-tree plugins, shell completion,
#                      licence
#   component docs     pages, examples; the site and the man pages where the target docs has made them
#
# The target uninstall removes it.
include(CMakePackageConfigHelpers)

set(KEYWAY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/keyway)
set(KEYWAY_HELPER_DIR ${CMAKE_INSTALL_LIBDIR}/keyway)
set(KEYWAY_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/${KEYWAY_PLUGIN_SUBDIR})

# ---- sdk

install(DIRECTORY ${PROJECT_SOURCE_DIR}/abi/include/keyway ${PROJECT_SOURCE_DIR}/backends/gpu/include/keyway
                  ${PROJECT_SOURCE_DIR}/backends/queue/include/keyway
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT sdk FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# keyway_abi is what a plugin sees: it becomes keyway::plugin. keyway_gpu is the plugin kit, keyway::gpu, keyway_queue
# the queue kit, keyway::queue.
set_target_properties(keyway_abi PROPERTIES EXPORT_NAME plugin)
set_target_properties(keyway_gpu PROPERTIES EXPORT_NAME gpu OUTPUT_NAME keyway-gpu)
set_target_properties(keyway_queue PROPERTIES EXPORT_NAME queue OUTPUT_NAME keyway-queue)
install(TARGETS keyway keyway_abi keyway_gpu keyway_queue EXPORT keywayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk NAMELINK_COMPONENT sdk
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk)
install(TARGETS keyway-gpu-sources RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT sdk)
install(EXPORT keywayTargets NAMESPACE keyway:: DESTINATION ${KEYWAY_PACKAGE_DIR} COMPONENT sdk)

configure_package_config_file(cmake/keyway-config.cmake.in ${PROJECT_BINARY_DIR}/keyway-config.cmake
                              INSTALL_DESTINATION ${KEYWAY_PACKAGE_DIR}
                              PATH_VARS KEYWAY_PLUGIN_DIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/keyway-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/keyway-config.cmake ${PROJECT_BINARY_DIR}/keyway-config-version.cmake
        DESTINATION ${KEYWAY_PACKAGE_DIR} COMPONENT sdk)

file(RELATIVE_PATH KEYWAY_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" KEYWAY_PC_PREFIX "${KEYWAY_PC_PREFIX}")
foreach(package keyway keyway-gpu keyway-plugin keyway-queue)
  configure_file(cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT sdk)
endforeach()

# ---- runtime

# Each finds libkeyway.so from where it lies itself.
file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(keyway_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
set_target_properties(keyway-worker PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS keyway_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(TARGETS keyway-probe keyway-plugin-host keyway-worker
        RUNTIME DESTINATION ${KEYWAY_HELPER_DIR} COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/conformance/mustpass DESTINATION ${KEYWAY_HELPER_DIR} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/cli/keyway.bash RENAME keyway COMPONENT runtime
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/cli/keyway.zsh RENAME _keyway COMPONENT runtime
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_SOURCE_DIR}/cli/keyway.fish COMPONENT runtime
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Backends are built where what they need was found.
foreach(backend cpu opencl levelzero cuda hip)
  if(TARGET keyway_${backend})
    install(TARGETS keyway_${backend} LIBRARY DESTINATION ${KEYWAY_PLUGIN_DIR} COMPONENT runtime)
    install(FILES ${PROJECT_SOURCE_DIR}/backends/${backend}/keyway_${backend}.keyway.json
            DESTINATION ${KEYWAY_PLUGIN_DIR} COMPONENT runtime OPTIONAL)
  endif()
endforeach()

foreach(peer cpu_raw cpu_onednn cpu_openblas opencl_raw opencl_clblast)
  if(TARGET keyway_peer_${peer})
    install(TARGETS keyway_peer_${peer} LIBRARY DESTINATION ${KEYWAY_HELPER_DIR}/peers COMPONENT runtime)
  endif()
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# ---- docs

# As they lie in the tree, so that their links hold.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN site EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs
        PATTERN "*_test.*" EXCLUDE PATTERN "test_host.*" EXCLUDE PATTERN .gitignore EXCLUDE
        REGEX "/examples/CMakeLists.txt$" EXCLUDE)
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/html DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs OPTIONAL)
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT docs OPTIONAL
        FILES_MATCHING PATTERN "*.1")

# ---- uninstall

configure_file(cmake/Uninstall.cmake.in ${PROJECT_BINARY_DIR}/Uninstall.cmake @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/Uninstall.cmake VERBATIM)
