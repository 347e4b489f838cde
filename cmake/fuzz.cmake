# A libFuzzer program for each tests/fuzz/<name>_fuzz.cc. It links parsers only, all of them instrumented.
file(GLOB peruse_parser_files CONFIGURE_DEPENDS core/base/*.cc core/text/*.cc core/text/*/*.cc core/families/*.cc core/heads/*.cc
  core/program/*.cc core/weights/pytorch/*.cc core/ops/*.cc core/formats/*.cc)
add_library(peruse_parsers STATIC EXCLUDE_FROM_ALL ${peruse_parser_files} core/weights/safetensors.cc
  core/weights/tensor_info.cc core/weights/weights_parser.cc)
target_include_directories(peruse_parsers PUBLIC "${PROJECT_SOURCE_DIR}")
target_compile_options(peruse_parsers PRIVATE ${PERUSE_WARNINGS})
target_link_libraries(peruse_parsers PRIVATE peruse_rapidjson)
peruse_precompiled(peruse_parsers ${peruse_standard_headers})

file(GLOB peruse_fuzz_files CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
foreach(file IN LISTS peruse_fuzz_files)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL "${file}" tests/fuzz/sanitizer_options.cc)
  target_link_libraries(${name} PRIVATE peruse_parsers)
  target_compile_options(${name} PRIVATE ${PERUSE_WARNINGS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
