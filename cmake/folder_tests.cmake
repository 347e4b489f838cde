# For the development loop (tools/dev/native.mjs): a program for each folder of tests/native. It compiles only the folders of core that its tests
# include (reach.mjs), so the first tests of core/text run after 70 files instead of 280, and an edit compiles little.
find_program(peruse_node node REQUIRED)

# Headers that most of these sources include, precompiled once for all programs.
file(WRITE "${PROJECT_BINARY_DIR}/folder_headers.cc" "")
add_library(peruse_folder_headers OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/folder_headers.cc")
target_link_libraries(peruse_folder_headers PRIVATE peruse_gtest)
target_compile_options(peruse_folder_headers PRIVATE ${peruse_test_options})
peruse_precompiled(peruse_folder_headers <gtest/gtest.h> ${peruse_standard_headers})

foreach(folder IN LISTS peruse_test_folders)
  set(target peruse_${folder}_tests)
  execute_process(COMMAND "${peruse_node}" "${PROJECT_SOURCE_DIR}/cmake/reach.mjs" "${PROJECT_SOURCE_DIR}" ${folder}
    OUTPUT_VARIABLE sources OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" sources "${sources}")
  add_executable(${target} EXCLUDE_FROM_ALL ${sources})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${target} PRIVATE ${peruse_test_options})
  target_link_libraries(${target} PRIVATE peruse_xnnpack peruse_pthreadpool peruse_highway peruse_rapidjson peruse_gtest peruse_utf8proc)
  target_precompile_headers(${target} REUSE_FROM peruse_folder_headers)
  if(sources MATCHES "core/backend/webgpu/")
    target_sources(${target} PRIVATE "${peruse_shaders_file}")
  endif()
endforeach()
# The fuzzers' functions use parts of core that no header of the tests names.
target_link_libraries(peruse_fuzz_tests PRIVATE peruse_replayed_fuzzers)
