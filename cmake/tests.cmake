# The GoogleTest files of tests/native: natively as peruse_tests, under Node as peruse_wasm_tests (same files).
file(GLOB_RECURSE peruse_test_files CONFIGURE_DEPENDS tests/native/*.cc)
if(NOT peruse_test_files)
  message(STATUS "tests/native is empty: no native tests")
  return()
endif()

set(peruse_vector_tests ${peruse_test_files})
list(FILTER peruse_vector_tests INCLUDE REGEX "/backend/xnnpack/")
peruse_vector_code(${peruse_vector_tests} tests/tools/int8_bits.cc)
set_source_files_properties(${peruse_vector_tests} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

if(EMSCRIPTEN)
  set(peruse_test_target peruse_wasm_tests)
else()
  set(peruse_test_target peruse_tests)
endif()
add_executable(${peruse_test_target} EXCLUDE_FROM_ALL ${peruse_test_files})
target_link_libraries(${peruse_test_target} PRIVATE peruse_train peruse_webgpu_backend peruse_core peruse_gtest peruse_utf8proc)
target_compile_options(${peruse_test_target} PRIVATE ${PERUSE_WARNINGS})
peruse_precompiled(${peruse_test_target} <gtest/gtest.h> ${peruse_standard_headers})
set_source_files_properties(tests/native/fixtures_dir.cc PROPERTIES
  COMPILE_DEFINITIONS PERUSE_FIXTURES_DIR="${PROJECT_SOURCE_DIR}/tests/fixtures")
if(EMSCRIPTEN)
  set_target_properties(${peruse_test_target} PROPERTIES SUFFIX ".cjs")
  target_link_options(${peruse_test_target} PRIVATE -O1 -sENVIRONMENT=node,worker -sNODERAWFS=1 -sEXIT_RUNTIME=1
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sABORTING_MALLOC=0 -sWASM_BIGINT=1)
  if(PERUSE_THREADS)
    target_link_options(${peruse_test_target} PRIVATE -sPTHREAD_POOL_SIZE=8 -sPROXY_TO_PTHREAD=1 -Wno-pthreads-mem-growth)
  endif()
endif()

if(NOT EMSCRIPTEN)
  # The program that tests/reference/make_tokenizer_fixtures.py runs.
  add_executable(encode_lines EXCLUDE_FROM_ALL tests/tools/encode_lines.cc tests/native/text/case_json.cc)
  target_link_libraries(encode_lines PRIVATE peruse_core)
  target_compile_options(encode_lines PRIVATE ${PERUSE_WARNINGS})

  # Teaches a model from JSON files (tests/tools/teach.cc).
  add_executable(teach EXCLUDE_FROM_ALL tests/tools/teach.cc)
  target_link_libraries(teach PRIVATE peruse_train peruse_core)
  target_compile_options(teach PRIVATE ${PERUSE_WARNINGS})

  # Writes core/text/unicode_mappings.inc.
  add_executable(make_unicode_mappings EXCLUDE_FROM_ALL tests/tools/make_unicode_mappings.cc)
  target_link_libraries(make_unicode_mappings PRIVATE peruse_utf8proc)
endif()

# Which int8 path a build takes, and what comes out: compared between builds by tests/node/int8_bits.test.ts.
add_executable(int8_bits EXCLUDE_FROM_ALL tests/tools/int8_bits.cc tests/native/ops/run_program.cc)
target_link_libraries(int8_bits PRIVATE peruse_core)
target_compile_options(int8_bits PRIVATE ${PERUSE_WARNINGS})
if(EMSCRIPTEN)
  set_target_properties(int8_bits PROPERTIES SUFFIX ".cjs")
  target_link_options(int8_bits PRIVATE -O1 -sENVIRONMENT=node,worker -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1)
endif()
