# The GoogleTest files of tests/native: natively in peruse_tests, in WebAssembly in peruse_wasm_tests and peruse_wasm_other_tests.
file(GLOB_RECURSE peruse_test_files CONFIGURE_DEPENDS tests/native/*.cc)
if(NOT peruse_test_files)
  message(STATUS "tests/native is empty: no native tests")
  return()
endif()

set(peruse_vector_tests ${peruse_test_files})
list(FILTER peruse_vector_tests INCLUDE REGEX "/native/cpu/")
peruse_vector_code(${peruse_vector_tests} tests/tools/int8_bits.cc)
set_source_files_properties(tests/native/fixtures_dir.cc PROPERTIES
  COMPILE_DEFINITIONS PERUSE_FIXTURES_DIR="${PROJECT_SOURCE_DIR}/tests/fixtures")
set_source_files_properties(tests/native/models/backends.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # peruse_gpu_tests has another one

# The speed of test code does not matter, so compile it quickly.
set(peruse_test_options ${PERUSE_WARNINGS})
if(EMSCRIPTEN)
  list(APPEND peruse_test_options -O1)
elseif(PERUSE_SANITIZE)
  list(APPEND peruse_test_options -fno-sanitize=undefined)
endif()

# Code that tests of several folders share.
set(peruse_test_support ${peruse_test_files})
list(FILTER peruse_test_support EXCLUDE REGEX "_test\\.cc$")
set(peruse_test_starts tests/native/sanitizer_options.cc tests/native/shard_environment.cc)  # linked explicitly, because no file refers to them
add_library(peruse_test_support STATIC EXCLUDE_FROM_ALL ${peruse_test_support})
target_link_libraries(peruse_test_support PUBLIC peruse_core peruse_gtest peruse_utf8proc)
target_compile_options(peruse_test_support PRIVATE ${peruse_test_options})
peruse_precompiled(peruse_test_support <gtest/gtest.h> ${peruse_standard_headers} ${peruse_backend_headers})

peruse_unity(peruse_test_support)

# The fuzzers' functions, each under its file's name: tests/native/fuzz replays their corpora.
if(NOT PERUSE_FUZZ)
  file(GLOB peruse_replayed_files CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
  foreach(file IN LISTS peruse_replayed_files)
    get_filename_component(name "${file}" NAME_WE)
    set_source_files_properties("${file}" PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=${name})
  endforeach()
  add_library(peruse_replayed_fuzzers STATIC EXCLUDE_FROM_ALL ${peruse_replayed_files})
  target_link_libraries(peruse_replayed_fuzzers PUBLIC peruse_core)
  target_compile_options(peruse_replayed_fuzzers PRIVATE ${peruse_test_options})
endif()

# peruse_test_program(name tests... [EXCEPT regex] [LIBRARIES libraries...]): the tests of files or folders of tests/native, like "text/*" or
# "text/trie", except files whose path matches the regular expression.
function(peruse_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "EXCEPT" "LIBRARIES")
  list(TRANSFORM program_UNPARSED_ARGUMENTS PREPEND "tests/native/")
  list(TRANSFORM program_UNPARSED_ARGUMENTS APPEND "_test.cc")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${program_UNPARSED_ARGUMENTS})
  if(program_EXCEPT)
    list(FILTER files EXCLUDE REGEX "${program_EXCEPT}")
  endif()
  list(APPEND files ${peruse_test_starts})
  add_executable(${name} EXCLUDE_FROM_ALL ${files})
  target_link_libraries(${name} PRIVATE peruse_test_support ${program_LIBRARIES})
  target_compile_options(${name} PRIVATE ${peruse_test_options})
  target_precompile_headers(${name} REUSE_FROM peruse_test_support)
  if(EMSCRIPTEN)
    set_target_properties(${name} PROPERTIES SUFFIX ".cjs")
    target_link_options(${name} PRIVATE -O1 -sENVIRONMENT=node,worker -sNODERAWFS=1 -sEXIT_RUNTIME=1
      -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sABORTING_MALLOC=0 -sWASM_BIGINT=1)
    if(PERUSE_THREADS)
      target_link_options(${name} PRIVATE -sPTHREAD_POOL_SIZE=8 -sPROXY_TO_PTHREAD=1 -Wno-pthreads-mem-growth)
    endif()
  endif()
endfunction()

# Tests of operations and models, on the backends that the program links (BackendsUnderTest): peruse_wasm_tests and peruse_gpu_tests.
if(EMSCRIPTEN)
  file(GLOB peruse_device_test_files CONFIGURE_DEPENDS tests/native/backend/*_test.cc tests/native/models/*_test.cc
    tests/native/ops/*_test.cc)
  add_library(peruse_device_tests OBJECT EXCLUDE_FROM_ALL ${peruse_device_test_files})
  target_link_libraries(peruse_device_tests PRIVATE peruse_test_support)
  target_compile_options(peruse_device_tests PRIVATE ${peruse_test_options})
  target_precompile_headers(peruse_device_tests REUSE_FROM peruse_test_support)
  peruse_unity(peruse_device_tests)
endif()

file(GLOB peruse_test_folders LIST_DIRECTORIES true RELATIVE "${PROJECT_SOURCE_DIR}/tests/native" CONFIGURE_DEPENDS tests/native/*)
list(FILTER peruse_test_folders EXCLUDE REGEX "\\.")
set(peruse_test_libraries peruse_train peruse_webgpu_backend)
if(NOT PERUSE_FUZZ)
  list(APPEND peruse_test_libraries peruse_replayed_fuzzers)
endif()
if(EMSCRIPTEN)
  # Vector code and memory may differ in WebAssembly (suite "wasm"); the other tests are "wasm-other".
  peruse_test_program(peruse_wasm_tests cpu/* memory/* train/golden train/operation
    LIBRARIES peruse_device_tests ${peruse_test_libraries})
  list(REMOVE_ITEM peruse_test_folders backend cpu memory models ops)
  list(TRANSFORM peruse_test_folders APPEND "/*")
  peruse_test_program(peruse_wasm_other_tests ${peruse_test_folders} EXCEPT "/train/(golden|operation)_test"
    LIBRARIES ${peruse_test_libraries})
  peruse_unity(peruse_wasm_tests peruse_wasm_other_tests)
else()
  peruse_test_program(peruse_tests * LIBRARIES ${peruse_test_libraries})
  peruse_unity(peruse_tests)
  if(NOT PERUSE_BULK AND NOT PERUSE_FUZZ)
    include(cmake/folder_tests.cmake)
  endif()

  # Used by tests/reference/make_tokenizer_fixtures.py.
  add_executable(encode_lines EXCLUDE_FROM_ALL tests/tools/encode_lines.cc tests/native/text/case_json.cc)
  target_link_libraries(encode_lines PRIVATE peruse_core)
  target_compile_options(encode_lines PRIVATE ${PERUSE_WARNINGS})

  add_executable(teach EXCLUDE_FROM_ALL tests/tools/teach.cc)
  target_link_libraries(teach PRIVATE peruse_train peruse_core)
  target_compile_options(teach PRIVATE ${PERUSE_WARNINGS})

  add_executable(make_unicode_mappings EXCLUDE_FROM_ALL tests/tools/make_unicode_mappings.cc)
  target_link_libraries(make_unicode_mappings PRIVATE peruse_utf8proc)
endif()

# Prints the int8 path of a build, and its results; tests/node/int8_bits.test.ts compares builds.
add_executable(int8_bits EXCLUDE_FROM_ALL tests/tools/int8_bits.cc tests/native/ops/run_program.cc)
target_link_libraries(int8_bits PRIVATE peruse_core)
target_compile_options(int8_bits PRIVATE ${PERUSE_WARNINGS})
if(EMSCRIPTEN)
  set_target_properties(int8_bits PROPERTIES SUFFIX ".cjs")
  target_link_options(int8_bits PRIVATE -O1 -sENVIRONMENT=node,worker -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1)
endif()
