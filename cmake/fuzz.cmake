# One libFuzzer program for each tests/fuzz/<name>_fuzz.cc.
file(GLOB peruse_fuzz_files CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
foreach(file IN LISTS peruse_fuzz_files)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} "${file}")
  target_link_libraries(${name} PRIVATE peruse_core)
  target_compile_options(${name} PRIVATE ${PERUSE_WARNINGS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
