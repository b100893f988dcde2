# SPDX-License-Identifier: MIT
# Installs the library, its headers, and what finds them: a CMake package and a pkg-config file, both free to be moved with the prefix.
include(CMakePackageConfigHelpers)

get_target_property(library_type penstock TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(PENSTOCK_IS_STATIC ON)
else()
  set(PENSTOCK_IS_STATIC OFF)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)
install(TARGETS penstock EXPORT penstockTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/penstock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT penstockTargets NAMESPACE penstock:: DESTINATION ${package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/penstockConfig.cmake.in ${PROJECT_BINARY_DIR}/penstockConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstockConfig.cmake ${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/penstock_dependencies.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A static library leaves its own libraries to whoever links it, so that `pkg-config --libs` without --static must name them too.
set(c_libraries " -lzstd")
if(PENSTOCK_IO_URING)
  string(APPEND c_libraries " -luring")
endif()
if(PENSTOCK_IS_STATIC)
  set(pc_libs "${c_libraries}")
  set(pc_libs_private "")
else()
  set(pc_libs "")
  set(pc_libs_private "${c_libraries}")
endif()
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/penstock.pc.in ${PROJECT_BINARY_DIR}/penstock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
