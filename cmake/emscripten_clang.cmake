# Compiles with Emscripten's clang directly: emcc, a Python script, takes 0.2 s for each file and then calls clang with the flags that it
# prints here. emcc still links.
execute_process(COMMAND "${PERUSE_EMSCRIPTEN}/em-config" LLVM_ROOT
  OUTPUT_VARIABLE peruse_llvm OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
# Debian 13 and Ubuntu have programs with a version only, clang-19.
execute_process(COMMAND "${PERUSE_EMSCRIPTEN}/em-config" CLANG_ADD_VERSION
  OUTPUT_VARIABLE peruse_version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(peruse_version MATCHES "^[0-9]")
  string(PREPEND peruse_version "-")
else()
  set(peruse_version "")
endif()
set(peruse_program_C clang${peruse_version})
set(peruse_program_CXX clang++${peruse_version})
set(peruse_threads)
if(PERUSE_THREADS)
  set(peruse_threads -pthread)
endif()
foreach(language IN ITEMS C CXX)
  execute_process(COMMAND "${CMAKE_${language}_COMPILER}" ${peruse_threads} --cflags
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(CMAKE_${language}_COMPILE_OBJECT
    "${peruse_llvm}/${peruse_program_${language}} ${flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
endforeach()
