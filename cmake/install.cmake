# find_package(Sindri CONFIG) provides Sindri::sindri, pkg-config provides sindri. Components: library, mpi, cuda, dev, program for the Debian packages
# (packages.cmake), python for the wheel.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS sindri EXPORT SindriTargets LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
foreach(plugin gloo mpi)
  if(TARGET sindri_${plugin})
    set(component library)
    if(plugin STREQUAL mpi)
      set(component mpi)  # a separate package: MPI is large and seldom needed
    endif()
    # Not a library to link to: it lies in a separate folder next to libsindri, where src/comm/plugin.cc looks for it.
    install(TARGETS sindri_${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sindri COMPONENT ${component})
  endif()
endforeach()
if(TARGET sindri_cuda)
  # OPTIONAL: installed if it was built; nothing else that is installed depends on it.
  install(TARGETS sindri_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sindri COMPONENT cuda OPTIONAL)
endif()
install(DIRECTORY include/sindri DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT SindriTargets NAMESPACE Sindri:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri COMPONENT dev)
configure_package_config_file(cmake/SindriConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/SindriConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/SindriConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SindriConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/SindriConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Sindri
  COMPONENT dev)
file(RELATIVE_PATH sindri_prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
# A program linked against ~/.local or another prefix finds the library there without LD_LIBRARY_PATH. A distribution's folder (lib/<architecture>), which the
# loader searches, needs no run path.
set(sindri_pc_rpath "")
if(NOT CMAKE_INSTALL_LIBDIR MATCHES "/")
  set(sindri_pc_rpath " -Wl,-rpath,\${libdir}")
endif()
configure_file(cmake/sindri.pc.in ${CMAKE_CURRENT_BINARY_DIR}/sindri.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sindri.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The quickstart's data and the settings files, so that an installed program works without the sources.
install(DIRECTORY dataset/digits configs DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri COMPONENT program)
# The pages that messages and help refer to (`sindri docs` prints their folder).
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri COMPONENT program PATTERN api EXCLUDE)
# The launch scripts and the files they need, laid out as in the sources (`sindri scripts` prints the folder). python/CMakeLists.txt installs them in a wheel.
set(sindri_launch_programs scripts/run_distribute_train.sh scripts/run_distribute_train_gpu.sh scripts/run_eval.sh scripts/run_eval_gpu.sh scripts/run_node1.sh
  scripts/run_node2.sh scripts/run_stage_1.sh scripts/run_stage_2.sh scripts/run_standalone_train.sh scripts/hccl_tools.py scripts/merge_hccl.py)
set(sindri_launch_files scripts/launch_lib.sh scripts/run_node.sh scripts/run_stage.sh scripts/sindri_program.py scripts/rank_table_8pcs.json
  scripts/rank_table_16pcs.json)
install(PROGRAMS ${sindri_launch_programs} DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri/scripts COMPONENT program)
install(FILES ${sindri_launch_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri/scripts COMPONENT program)
install(DIRECTORY python/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/sindri/python COMPONENT program USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
if(TARGET sindri_program)
  set_target_properties(sindri_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS sindri_program RUNTIME COMPONENT program)
  # MindSpore's launcher `msrun` is a link to the program, which runs the verb of that name.
  add_custom_command(TARGET sindri_program POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink sindri $<TARGET_FILE_DIR:sindri_program>/msrun VERBATIM)
  install(FILES $<TARGET_FILE_DIR:sindri_program>/msrun DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # The program prints its own man pages and completion; the installation runs it.
  install(CODE "
    set(pages \"${CMAKE_CURRENT_BINARY_DIR}/manual\")
    file(REMOVE_RECURSE \"\${pages}\")
    file(MAKE_DIRECTORY \"\${pages}/man1\")
    execute_process(COMMAND \"$<TARGET_FILE:sindri_program>\" manual --all \"\${pages}/man1\" COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"\${pages}/man1/msrun.1\" \".so man1/sindri-msrun.1\\n\")
    execute_process(COMMAND \"$<TARGET_FILE:sindri_program>\" completion OUTPUT_FILE \"\${pages}/sindri\" COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB written \"\${pages}/man1/*.1\")
    execute_process(COMMAND gzip -9nf \${written} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/manual/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/manual/sindri DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
endif()
