# What CPack makes of a build, and the version in it: ./dev package calls it.

set(CPACK_PACKAGE_NAME tracedb)
set(CPACK_PACKAGE_VENDOR "the tracedb authors")
set(CPACK_PACKAGE_CONTACT "The tracedb authors <tracedb@tracedb.example.net>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "PyTorch profiler traces of any size into SQLite")
set(CPACK_PACKAGE_DESCRIPTION
"Reads the traces that a distributed training job records (Chrome trace
JSON, plain or packed), what else it leaves beside them, and exports of
Nsight Systems, in bounded memory, into a SQLite database.
.
Then it answers what they were recorded for: is communication hidden
behind computation, who makes the others wait in NCCL, how busy is each
stream. With a report page, comparisons of runs, and windows for Perfetto.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/packages)

# The Debian package: with what its policy wants beside the files that `cmake --install` installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "less, sqlite3")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_BINARY_DIR}/DebianFiles.cmake)
configure_file(${CMAKE_CURRENT_LIST_DIR}/DebianFiles.cmake.in ${CMAKE_BINARY_DIR}/DebianFiles.cmake
               @ONLY)
include(CPack)
