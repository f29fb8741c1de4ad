# Warnings and sanitizers travel on a target; a layer is a library that says whom it may use.

add_library(tracedb_warnings INTERFACE)
target_compile_features(tracedb_warnings INTERFACE cxx_std_20)
# -UNDEBUG: asserts are our contracts, and stay on in Release builds.
target_compile_options(tracedb_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                  -UNDEBUG)
target_include_directories(tracedb_warnings INTERFACE ${PROJECT_SOURCE_DIR}/include)
if(TRACEDB_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # It forgets what of a precompiled header is the system's, and warns of that.
  target_compile_options(tracedb_warnings INTERFACE -Wno-error=array-bounds
                                                    -Wno-error=stringop-overflow)
endif()
add_library(tracedb_flags INTERFACE)
target_link_libraries(tracedb_flags INTERFACE tracedb_warnings)

if(TRACEDB_SANITIZE)
  # -O1: builds in two thirds of the time, and the tests take no longer. With -O0 39 sources took 96
  # CPU s in place of 185, but ingest_test over 480 in place of 245, and queries three times as
  # many.
  target_compile_options(tracedb_flags INTERFACE -fsanitize=${TRACEDB_SANITIZE}
                                                 -fno-omit-frame-pointer -g1 -O1)
  target_link_options(tracedb_flags INTERFACE -fsanitize=${TRACEDB_SANITIZE})
endif()

# Read once, not by each source: with sanitizers 218 sources took 318 CPU s in place of 430.
set(TRACEDB_COMMON_HEADERS
    <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <filesystem> <functional> <map>
    <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <unordered_map>
    <utility> <vector> <fmt/format.h>)

# tracedb_common_headers(TARGET KIND headers...), where TRACEDB_PRECOMPILE is on: the target has the
# common headers precompiled. The first target of a kind compiles them, with the headers named here,
# and the others of that kind share them.
function(tracedb_common_headers target kind)
  if(NOT TRACEDB_PRECOMPILE)
    return()
  endif()
  # Of all: g++ takes no precompiled header that another set of macros was defined for.
  target_link_libraries(${target} PRIVATE fmt::fmt)
  get_property(first GLOBAL PROPERTY TRACEDB_FIRST_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${TRACEDB_COMMON_HEADERS} ${ARGN})
    set_property(GLOBAL PROPERTY TRACEDB_FIRST_${kind} ${target})
  endif()
endfunction()

# Of the layers that read traces: "train" builds a program that counts what runs how often, "use"
# one that is optimised for that. ./dev pgo does one after the other in one folder, where the counts
# are. Whatever has no counts is optimised as without.
set(TRACEDB_PGO_LAYERS base memory schema_sql schema json pages derive ranks read
    ingest)
if(TRACEDB_PGO AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "TRACEDB_PGO wants g++: its counts are not those of ${CMAKE_CXX_COMPILER_ID}")
elseif(TRACEDB_PGO STREQUAL "train")
  set(TRACEDB_PGO_FLAGS -fprofile-generate -fprofile-update=atomic
                        -fprofile-reproducible=multithreaded)
  target_link_options(tracedb_flags INTERFACE -fprofile-generate)
elseif(TRACEDB_PGO STREQUAL "use")
  set(TRACEDB_PGO_FLAGS -fprofile-use -fprofile-partial-training -Wno-missing-profile)
elseif(TRACEDB_PGO)
  message(FATAL_ERROR "TRACEDB_PGO is ${TRACEDB_PGO}; it may be train or use")
endif()
if(TRACEDB_FUZZ)
  target_compile_options(tracedb_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# tracedb_layer(NAME NEEDS targets... SOURCES files...): static library tracedb_NAME.
function(tracedb_layer name)
  cmake_parse_arguments(LAYER "" "" "NEEDS;SOURCES" ${ARGN})
  add_library(tracedb_${name} STATIC ${LAYER_SOURCES})
  target_link_libraries(tracedb_${name} PUBLIC tracedb_flags ${LAYER_NEEDS})
  target_include_directories(tracedb_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  set_property(GLOBAL APPEND PROPERTY TRACEDB_LAYERS tracedb_${name})
  tracedb_common_headers(tracedb_${name} layer)
  if(name IN_LIST TRACEDB_PGO_LAYERS)
    target_compile_options(tracedb_${name} PRIVATE ${TRACEDB_PGO_FLAGS})
  endif()
endfunction()

# What few commands need and is dear to load, as cpp-httplib and libxlsxwriter are, which both bring
# OpenSSL along: loaded by every command it was half of the time before that begins
# (src/cmake/DECISION-modules.md). A program that has to be whole by itself has it within: those of
# packages and wheels, and with sanitizers.
if(TRACEDB_SANITIZE OR TRACEDB_PACKAGES OR SKBUILD)
  set(TRACEDB_MODULES OFF)
else()
  set(TRACEDB_MODULES ON)
  file(RELATIVE_PATH module_folder ${CMAKE_INSTALL_FULL_BINDIR}
       ${CMAKE_INSTALL_FULL_LIBDIR}/tracedb)
endif()

# tracedb_module(NAME LAYER LIBRARY target NEEDS targets... SOURCES files... WITH files...): the
# module tracedb-NAME.so, or a part of the layer. WITH: sources of the layer that it has too.
function(tracedb_module name layer)
  cmake_parse_arguments(MODULE "" "LIBRARY" "NEEDS;SOURCES;WITH" ${ARGN})
  if(NOT TRACEDB_MODULES)
    target_sources(tracedb_${layer} PRIVATE ${MODULE_SOURCES})
    target_link_libraries(tracedb_${layer} PUBLIC ${MODULE_LIBRARY})
    return()
  endif()
  add_library(tracedb_${name}_module MODULE ${MODULE_SOURCES} ${MODULE_WITH})
  set_target_properties(tracedb_${name}_module PROPERTIES PREFIX "" OUTPUT_NAME tracedb-${name})
  target_link_libraries(tracedb_${name}_module PRIVATE tracedb_flags ${MODULE_LIBRARY}
                        ${MODULE_NEEDS})
  target_link_options(tracedb_${name}_module PRIVATE -Wl,-z,defs -Wl,--exclude-libs,ALL)
  target_include_directories(tracedb_${name}_module PRIVATE ${PROJECT_SOURCE_DIR}/src)
  add_dependencies(tracedb_${layer} tracedb_${name}_module)
  install(TARGETS tracedb_${name}_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tracedb)
endfunction()

# The files of a layer, NAME_avx2.cc and NAME_avx512.cc, that are for processors with such vectors:
# which of them is used is found out at run time.
function(tracedb_wide_sources layer)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  target_sources(tracedb_${layer} PRIVATE ${ARGN})
  foreach(file IN LISTS ARGN)
    set(vectors -mavx2)
    if(file MATCHES "_avx512.cc$")
      set(vectors -mavx512bw)
    endif()
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${vectors};-mpclmul;-mbmi2"
                                                   SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()
