# Every library the program needs, with the Debian package that has it.

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

macro(tracedb_find package_name debian_package)
  find_package(${package_name} QUIET)
  if(NOT ${package_name}_FOUND)
    tracedb_missing(${package_name} ${debian_package})
  endif()
endmacro()

tracedb_find(Threads libc6-dev)
tracedb_find(SQLite3 libsqlite3-dev)
tracedb_find(ZLIB zlib1g-dev)
tracedb_find(simdjson libsimdjson-dev)
tracedb_find(zstd libzstd-dev)
add_library(tracedb_zstd INTERFACE)
target_link_libraries(tracedb_zstd INTERFACE
  $<IF:$<TARGET_EXISTS:zstd::libzstd_shared>,zstd::libzstd_shared,zstd::libzstd_static>)
tracedb_find(CLI11 libcli11-dev)
tracedb_find(fmt libfmt-dev)
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
