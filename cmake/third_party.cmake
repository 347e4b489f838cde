# Small third-party libraries: Unicode tables (for tests and make_unicode_mappings), SIMD headers, JSON headers, GoogleTest.
include(cmake/pthreadpool.cmake)
include(cmake/xnnpack.cmake)

add_library(peruse_utf8proc STATIC EXCLUDE_FROM_ALL "${PERUSE_SOURCE_UTF8PROC}/utf8proc.c")
target_include_directories(peruse_utf8proc SYSTEM PUBLIC "${PERUSE_SOURCE_UTF8PROC}")
target_compile_definitions(peruse_utf8proc PUBLIC UTF8PROC_STATIC)
target_compile_options(peruse_utf8proc PRIVATE -w)

add_library(peruse_highway INTERFACE)
target_include_directories(peruse_highway SYSTEM INTERFACE "${PERUSE_SOURCE_HIGHWAY}")
target_compile_definitions(peruse_highway INTERFACE HWY_COMPILE_ONLY_STATIC)

add_library(peruse_rapidjson INTERFACE)
target_include_directories(peruse_rapidjson SYSTEM INTERFACE "${PERUSE_SOURCE_RAPIDJSON}/include")
if(PERUSE_SANITIZE)
  set_source_files_properties(core/base/json.cc PROPERTIES
    COMPILE_OPTIONS "-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignore.txt")
endif()

set(peruse_gtest "${PERUSE_SOURCE_GOOGLETEST}/googletest")
add_library(peruse_gtest STATIC EXCLUDE_FROM_ALL "${peruse_gtest}/src/gtest-all.cc" "${peruse_gtest}/src/gtest_main.cc")
target_include_directories(peruse_gtest SYSTEM PUBLIC "${peruse_gtest}/include" PRIVATE "${peruse_gtest}")
target_compile_definitions(peruse_gtest PUBLIC GTEST_HAS_EXCEPTIONS=0 GTEST_HAS_RTTI=0)
target_compile_options(peruse_gtest PRIVATE -w)
target_compile_options(peruse_gtest PRIVATE -O0)  # a third of the time to compile the slowest file
if(PERUSE_SANITIZE)
  target_compile_options(peruse_gtest PRIVATE -fno-sanitize=undefined)
endif()
if(EMSCRIPTEN)
  target_compile_definitions(peruse_gtest PUBLIC GTEST_HAS_PTHREAD=0)
else()
  target_link_libraries(peruse_gtest PUBLIC Threads::Threads)
endif()
