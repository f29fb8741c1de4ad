# What the wheel of src/python takes of a build, when scikit-build-core configures this.

set(TRACEDB_WHEEL_OF "" CACHE PATH
    "for ./dev package: a folder with the program, the extension and their licences, to be packed")

# tracedb_wheel(PROGRAM EXTENSION): the program among the environment's, the extension beside the
# module.
function(tracedb_wheel program extension)
  install(PROGRAMS ${program} DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
  install(PROGRAMS ${extension} DESTINATION tracedb_profiler COMPONENT wheel)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${SKBUILD_METADATA_DIR}/licenses
    COMPONENT wheel)
  if(TRACEDB_WHEEL_OF)
    install(FILES ${TRACEDB_WHEEL_OF}/LICENCES-OF-LIBRARIES
      DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT wheel)
  endif()
endfunction()
