# Installs headers, library, tools and goldens, with a CMake package (emmyConfig.cmake) and a pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS emmy emmy_knob EXPORT emmyTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/emmy DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp")
install(EXPORT emmyTargets NAMESPACE emmy:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emmy)
configure_package_config_file(cmake/emmyConfig.cmake.in ${PROJECT_BINARY_DIR}/emmyConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emmy PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/emmyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/emmyConfig.cmake ${PROJECT_BINARY_DIR}/emmyConfigVersion.cmake cmake/emmy_golden_header.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emmy)

file(RELATIVE_PATH EMMY_PC_TO_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")  # a package that was moved finds itself
configure_file(cmake/emmy.pc.in ${PROJECT_BINARY_DIR}/emmy.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/emmy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY goldens recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/emmy FILES_MATCHING PATTERN "*.json" PATTERN "*.env")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EMMY_TOOLS)
  install(TARGETS ${EMMY_TOOLS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
