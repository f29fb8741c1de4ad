# tracedb_static: the same objects as the program's, linked with nothing that must be where it runs
# (src/packages/DECISION-static-program.md). It lies in the build's folder `static`, with licences.

set(TRACEDB_STATIC_LIBRARIES ${PROJECT_SOURCE_DIR}/build/static-libraries CACHE PATH
    "where src/packages/static_libraries.sh has put what Debian has no archive of")

# In the order of use: who needs a library stands before it.
set(static_libraries)
foreach(name simdjson isal fmt cpp-httplib zstd xxhash sqlite3 z)
  find_library(TRACEDB_STATIC_${name} lib${name}.a HINTS ${TRACEDB_STATIC_LIBRARIES}/lib)
  if(NOT TRACEDB_STATIC_${name})
    message(FATAL_ERROR "there is no lib${name}.a; ./dev package makes all that are needed")
  endif()
  list(APPEND static_libraries ${TRACEDB_STATIC_${name}})
endforeach()

get_property(layers GLOBAL PROPERTY TRACEDB_LAYERS)
set(layer_archives)
foreach(layer IN LISTS layers)
  list(APPEND layer_archives $<TARGET_FILE:${layer}>)
endforeach()
# Without TLS and brotli, which no answer is sent with: Debian's httplib has them, and OpenSSL.
# What stands before an archive is taken in its place.
file(GLOB http CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/serve/http/*.cc)
add_library(tracedb_static_http OBJECT ${http})
target_link_libraries(tracedb_static_http PRIVATE tracedb_flags fmt::fmt)
target_include_directories(tracedb_static_http PRIVATE ${PROJECT_SOURCE_DIR}/src)
add_executable(tracedb_static $<TARGET_OBJECTS:tracedb> $<TARGET_OBJECTS:tracedb_static_http>
               cmake/static_names.cc)
set_target_properties(tracedb_static PROPERTIES OUTPUT_NAME tracedb
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/static LINK_DEPENDS "${static_libraries}")
target_link_libraries(tracedb_static PRIVATE tracedb_warnings -Wl,--start-group ${layer_archives}
  -Wl,--end-group ${static_libraries})
# What getaddrinfo and dlopen would load is not: static_names.cc, and SQLite loads no extension.
target_link_options(tracedb_static PRIVATE -static-pie -Wl,--gc-sections -Wl,--no-warnings -s)
add_dependencies(tracedb_static ${layers})

# Those of all that is in it. Debian's copyright files have them.
set(licences "")
foreach(package libsqlite3-dev zlib1g-dev libzstd-dev libsimdjson-dev libfmt-dev libisal-dev
        libxxhash-dev libcpp-httplib-dev libcli11-dev node-d3 libc6-dev
        libstdc++-12-dev)
  set(file /usr/share/doc/${package}/copyright)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "there is no ${file}: whose licence is it under?")
  endif()
  file(READ ${file} text)
  string(APPEND licences "==== ${package} ====\n\n${text}\n")
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/static/LICENCES-OF-LIBRARIES "${licences}")
