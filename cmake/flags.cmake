# Instruction sets of builds. Only vector code is compiled with relaxed SIMD (peruse_vector_code); ccache shares all other objects.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)

if(EMSCRIPTEN)
  include(cmake/emscripten_clang.cmake)
  add_link_options(-fno-exceptions -fno-rtti)  # Emscripten chooses builds of its system libraries by these
  add_compile_options(-msimd128)
  if(PERUSE_THREADS)
    add_compile_options(-pthread)
    add_link_options(-pthread)
  endif()
else()
  find_package(Threads REQUIRED)
  find_program(peruse_lld NAMES ld.lld-19 ld.lld)
  if(peruse_lld AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options(-fuse-ld=lld)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-march=x86-64-v3 -maes -mpclmul)  # Highway requires AES for its AVX2 target
  endif()
endif()

if(PERUSE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(PERUSE_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(PERUSE_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
if(PERUSE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link -O2)  # -O2 inlines the standard library, which is instrumented, too
  add_compile_definitions(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)  # libFuzzer's name
endif()

set(PERUSE_WARNINGS -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
    -Wno-deprecated-declarations)  # libstdc++ 12 uses its own deprecated functions

# Marks files that include simd.h or XNNPACK's kernels. Other files must not include headers with inline vector code: compiling it with and
# without relaxed SIMD would break the one-definition rule.
function(peruse_vector_code)
  if(EMSCRIPTEN AND PERUSE_RELAXED)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -mrelaxed-simd)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)  # headers are compiled without relaxed SIMD
  endif()
endfunction()

# The same for all files of a target.
function(peruse_vector_target target)
  if(EMSCRIPTEN AND PERUSE_RELAXED)
    target_compile_options(${target} PRIVATE -mrelaxed-simd)
  endif()
endfunction()
