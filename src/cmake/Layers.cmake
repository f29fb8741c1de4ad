# Warnings and sanitizers travel on a target; a layer is a library that says whom it may use.

add_library(tracedb_warnings INTERFACE)
target_compile_features(tracedb_warnings INTERFACE cxx_std_20)
# -UNDEBUG: asserts are our contracts, and stay on in Release builds.
target_compile_options(tracedb_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                  -UNDEBUG)
target_include_directories(tracedb_warnings INTERFACE ${PROJECT_SOURCE_DIR}/include)
add_library(tracedb_flags INTERFACE)
target_link_libraries(tracedb_flags INTERFACE tracedb_warnings)

if(TRACEDB_SANITIZE)
  # -O1: builds in two thirds of the time, and the tests take no longer.
  target_compile_options(tracedb_flags INTERFACE -fsanitize=${TRACEDB_SANITIZE}
                                                 -fno-omit-frame-pointer -g -O1)
  target_link_options(tracedb_flags INTERFACE -fsanitize=${TRACEDB_SANITIZE})
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
endfunction()
