# peruse_precompiled(target headers...): precompiles headers that most files of the target include, which halves compile time. Files with
# other flags set SKIP_PRECOMPILE_HEADERS. Files still include the headers that they use.
set(peruse_standard_headers
  <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <string>
  <string_view> <unordered_map> <utility> <variant> <vector>)

# Headers of core that most files of a library include. Precompiled only if PERUSE_BULK, because an edit of such a header compiles all files of
# the library.
set(peruse_backend_headers)
set(peruse_vector_headers)
set(peruse_model_headers)
set(peruse_train_headers)
set(peruse_recording_headers)
if(PERUSE_BULK)
  set(peruse_backend_headers <core/backend/backend.h> <core/base/json.h>)
  set(peruse_model_headers ${peruse_backend_headers} <core/families/config.h> <core/heads/heads.h> <core/program/build.h>)
  set(peruse_vector_headers <core/backend/cpu/runner.h> <core/cpu/simd.h>)
  set(peruse_train_headers ${peruse_model_headers} <core/cpu/simd.h> <core/train/memory/tape.h>)
  set(peruse_recording_headers <core/backend/webgpu/recording.h>)
endif()

# CMake's default flags contain two absolute paths, which ccache does not make relative.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

function(peruse_precompiled target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES PCH_INSTANTIATE_TEMPLATES OFF)  # it would enlarge the WebAssembly
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  # The precompiled header contains the path of its folder, so ccache identifies it by its sources: these headers, and third-party
  # versions.
  file(SHA256 "${PROJECT_SOURCE_DIR}/tools/setup/third_party.mjs" sources)
  string(SHA256 sum "${ARGN};${sources}")
  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum" "${sum}")
endfunction()
