# peruse_precompiled(target headers...): what most files of the target include is parsed once; it is half of the time of a compilation.
# Files with flags of their own, above all vector code, take no part (SKIP_PRECOMPILE_HEADERS). A file still includes what it uses.
set(peruse_standard_headers
  <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <string>
  <string_view> <unordered_map> <utility> <variant> <vector>)

# CMake's own words name two absolute paths, which ccache does not make relative.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

function(peruse_precompiled target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES PCH_INSTANTIATE_TEMPLATES OFF)  # With it, wasm grows.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  # The result holds the names of its folder. For ccache, which knows compiler and flags, it counts by what it was made of: these headers,
  # of these third-party sources.
  file(SHA256 "${PROJECT_SOURCE_DIR}/tools/setup/third_party.mjs" sources)
  string(SHA256 sum "${ARGN};${sources}")
  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum" "${sum}")
endfunction()
