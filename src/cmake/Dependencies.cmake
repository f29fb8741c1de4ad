# Every library the program needs, with the Debian package that has it, and the version from which
# on it is known to work: Debian 12's, which all workarounds in src are for.

function(tracedb_missing library package)
  message(FATAL_ERROR "tracedb needs ${library}, which was not found. On Debian: "
                      "apt-get install ${package}   (or run ./dev build, which installs all)")
endfunction()

# A library without a CMake package of its own: header + library by name.
function(tracedb_find_plain target library header package)
  find_path(${target}_INCLUDE ${header})
  find_library(${target}_LIBRARY ${library})
  if(NOT ${target}_INCLUDE OR NOT ${target}_LIBRARY)
    tracedb_missing(${library} ${package})
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE})
  target_link_libraries(${target} INTERFACE ${${target}_LIBRARY})
endfunction()

# tracedb_find(PACKAGE MINIMUM DEBIAN-PACKAGE COMPONENTS...). The version is compared here: asked of
# find_package, simdjson takes the same minor version alone, and CLI11 and zstd the same major one.
macro(tracedb_find package_name minimum debian_package)
  find_package(${package_name} QUIET ${ARGN})
  if(NOT ${package_name}_FOUND)
    tracedb_missing("${package_name} ${minimum}" ${debian_package})
  endif()
  set(found_version "${${package_name}_VERSION}")
  if(NOT found_version)  # CMake 3.25 and ZLIB
    set(found_version "${${package_name}_VERSION_STRING}")
  endif()
  if(found_version VERSION_LESS "${minimum}")
    message(FATAL_ERROR "tracedb needs ${package_name} ${minimum} or later; found: "
                        "${found_version}")
  endif()
endmacro()

find_package(Threads REQUIRED)
tracedb_find(SQLite3 3.40 libsqlite3-dev)
tracedb_find(ZLIB 1.2.13 zlib1g-dev)
tracedb_find(simdjson 3.0.1 libsimdjson-dev)
tracedb_find(zstd 1.5.4 libzstd-dev)
tracedb_find(CLI11 2.1.2 libcli11-dev)
tracedb_find(fmt 9.1 libfmt-dev)
add_library(tracedb_zstd INTERFACE)
target_link_libraries(tracedb_zstd INTERFACE
  $<IF:$<TARGET_EXISTS:zstd::libzstd_shared>,zstd::libzstd_shared,zstd::libzstd_static>)
# Unpacks gzip three times as fast as zlib; without it (-DTRACEDB_ISAL=OFF) zlib does.
option(TRACEDB_ISAL "unpack gzip with ISA-L" ON)
if(TRACEDB_ISAL)
  tracedb_find_plain(tracedb_isal isal isa-l/igzip_lib.h libisal-dev)
endif()
tracedb_find_plain(tracedb_xxhash xxhash xxhash.h libxxhash-dev)
# Debian's httplib is a library, made with these; what its classes hold depends on them.
tracedb_find_plain(tracedb_httplib cpp-httplib httplib.h libcpp-httplib-dev)
target_compile_definitions(tracedb_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT
  CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
# The charts of the report page: JavaScript, which is embedded with its licence.
find_file(TRACEDB_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3
          NO_CACHE NO_DEFAULT_PATH)
find_file(TRACEDB_D3_LICENCE copyright PATHS /usr/share/doc/node-d3 NO_CACHE NO_DEFAULT_PATH)
if(NOT TRACEDB_D3 OR NOT TRACEDB_D3_LICENCE)
  tracedb_missing("d3 (d3.min.js and its licence)" node-d3)
endif()
