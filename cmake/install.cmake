# find_package(Sindri CONFIG) gives Sindri::sindri, pkg-config sindri. Components: library, mpi, dev, program for the Debian packages (packages.cmake),
# python for the wheel.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS sindri EXPORT SindriTargets LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
foreach(plugin gloo mpi)
  if(TARGET sindri_${plugin})
    set(component library)
    if(plugin STREQUAL mpi)
      set(component mpi)  # a package of its own: MPI is large, and seldom wanted
    endif()
    # No library to link to: in a folder of its own beside libsindri, where it is looked for (src/comm/plugin.cc).
    install(TARGETS sindri_${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sindri COMPONENT ${component})
  endif()
endforeach()
install(DIRECTORY include/sindri DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT SindriTargets NAMESPACE Sindri:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri COMPONENT dev)
configure_package_config_file(cmake/SindriConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/SindriConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/SindriConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SindriConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/SindriConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri
  COMPONENT dev)
file(RELATIVE_PATH sindri_prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/sindri.pc.in ${CMAKE_CURRENT_BINARY_DIR}/sindri.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sindri.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The quickstart's data and the settings files, so that an installed program can begin without the sources.
install(DIRECTORY dataset/digits configs DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri COMPONENT program)
if(TARGET sindri_program)
  set_target_properties(sindri_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS sindri_program RUNTIME COMPONENT program)
  # Man pages and completion are what the program itself says; it is run when they are installed.
  install(CODE "
    set(pages \"${CMAKE_CURRENT_BINARY_DIR}/manual\")
    file(REMOVE_RECURSE \"\${pages}\")
    file(MAKE_DIRECTORY \"\${pages}/man1\")
    execute_process(COMMAND \"$<TARGET_FILE:sindri_program>\" manual --all \"\${pages}/man1\" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND \"$<TARGET_FILE:sindri_program>\" completion OUTPUT_FILE \"\${pages}/sindri\" COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB written \"\${pages}/man1/*.1\")
    execute_process(COMMAND gzip -9nf \${written} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/manual/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/manual/sindri DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
endif()
