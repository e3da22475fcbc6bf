# find_package(Sindri CONFIG) gives Sindri::sindri.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS sindri EXPORT SindriTargets)
if(TARGET sindri_gloo)
  install(TARGETS sindri_gloo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})  # beside libsindri, where it is looked for
endif()
if(TARGET sindri_mpi)
  install(TARGETS sindri_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})  # beside libsindri, where it is looked for
endif()
if(TARGET sindri_program)
  set_target_properties(sindri_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS sindri_program RUNTIME)
endif()
install(DIRECTORY include/sindri DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The quickstart's data and the settings files, so that an installed program can begin without the sources.
install(DIRECTORY dataset/digits configs DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri)
install(EXPORT SindriTargets NAMESPACE Sindri:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri)
configure_package_config_file(cmake/SindriConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/SindriConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/SindriConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SindriConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/SindriConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri)
