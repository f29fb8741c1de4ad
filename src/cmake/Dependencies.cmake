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

# Each library that is loaded takes 60 us before a program begins (DECISION-modules.md).
option(TRACEDB_ARCHIVES "have in a program the libraries that there are archives of" ON)

# tracedb_prefer_archives(TARGET SHARED ARCHIVES NAME... OF DEBIAN-PACKAGE...): TARGET is the
# archives in a program, where all are there; and in a module, which others load, SHARED. The .deb's
# program has SHARED too: Debian's policy wants no copies of libraries. The property
# TRACEDB_IN_PROGRAM lists the packages whose archives were taken: instructions are counted by them.
function(tracedb_prefer_archives target shared)
  cmake_parse_arguments(PREFER "" "" "ARCHIVES;OF" ${ARGN})
  add_library(${target} INTERFACE)
  add_library(${target}_archives INTERFACE)
  target_link_libraries(${target}_archives INTERFACE ${CMAKE_DL_LIBS} m)
  set(are_there ${TRACEDB_ARCHIVES})
  if(TRACEDB_PACKAGES)
    set(are_there OFF)
  endif()
  foreach(name IN LISTS PREFER_ARCHIVES)
    find_library(TRACEDB_ARCHIVE_${name} lib${name}.a)
    mark_as_advanced(TRACEDB_ARCHIVE_${name})
    if(NOT TRACEDB_ARCHIVE_${name})
      set(are_there OFF)
      break()
    endif()
    set_property(TARGET ${target}_archives APPEND PROPERTY INTERFACE_LINK_LIBRARIES
                 ${TRACEDB_ARCHIVE_${name}})
  endforeach()
  if(NOT are_there)
    target_link_libraries(${target} INTERFACE ${shared})
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY TRACEDB_IN_PROGRAM ${PREFER_OF})
  target_include_directories(${target} SYSTEM INTERFACE
    $<TARGET_PROPERTY:${shared},INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} INTERFACE
    $<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,${target}_archives,${shared}>)
endfunction()

find_package(Threads REQUIRED)
tracedb_find(SQLite3 3.40 libsqlite3-dev)
tracedb_find(ZLIB 1.2.13 zlib1g-dev)
tracedb_find(simdjson 3.0.1 libsimdjson-dev)
tracedb_find(zstd 1.5.4 libzstd-dev)
tracedb_find(CLI11 2.1.2 libcli11-dev)
tracedb_find(fmt 9.1 libfmt-dev)
tracedb_prefer_archives(tracedb_sqlite SQLite::SQLite3 ARCHIVES sqlite3 OF libsqlite3-dev)
tracedb_prefer_archives(tracedb_zlib ZLIB::ZLIB ARCHIVES z OF zlib1g-dev)
if(TARGET zstd::libzstd_shared)
  tracedb_prefer_archives(tracedb_zstd zstd::libzstd_shared ARCHIVES zstd OF libzstd-dev)
else()
  add_library(tracedb_zstd INTERFACE)
  target_link_libraries(tracedb_zstd INTERFACE zstd::libzstd_static)
endif()
# Unpacks gzip three times as fast as zlib; without it (-DTRACEDB_ISAL=OFF) zlib does.
option(TRACEDB_ISAL "unpack gzip with ISA-L" ON)
if(TRACEDB_ISAL)
  tracedb_find_plain(tracedb_isal isal isa-l/igzip_lib.h libisal-dev)
endif()
# Keys, names and a history at the prompt of `tracedb shell`; without it (-DTRACEDB_LIBEDIT=OFF)
# lines are read as they are typed.
option(TRACEDB_LIBEDIT "edit lines of the shell with libedit" ON)
if(TRACEDB_LIBEDIT)
  tracedb_find_plain(tracedb_libedit_shared edit histedit.h libedit-dev)
  tracedb_prefer_archives(tracedb_libedit tracedb_libedit_shared ARCHIVES edit tinfo bsd md
    OF libedit-dev libncurses-dev libbsd-dev libmd-dev)
endif()
# Workbooks of spreadsheets; without it (-DTRACEDB_XLSX=OFF) `tracedb export` says that there are
# none.
option(TRACEDB_XLSX "write .xlsx with libxlsxwriter" ON)
if(TRACEDB_XLSX)
  tracedb_find_plain(tracedb_xlsx xlsxwriter xlsxwriter.h libxlsxwriter-dev)
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
