# Uses clang for native builds, like for wasm and fuzzing, unless the caller chooses a compiler; and ccache.
if(NOT CMAKE_TOOLCHAIN_FILE AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(peruse_clang NAMES clang-19 clang)
  find_program(peruse_clangxx NAMES clang++-19 clang++)
  if(peruse_clang AND peruse_clangxx)
    set(CMAKE_C_COMPILER "${peruse_clang}")
    set(CMAKE_CXX_COMPILER "${peruse_clangxx}")
  endif()
endif()

# ccache hashes paths relative to the clone, so clones share compiled objects. The compiler reports included files (depend mode), so no
# preprocessor runs first. A .sum file identifies a precompiled header (precompiled.cmake).
find_program(peruse_ccache ccache)
if(peruse_ccache)
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${peruse_ccache}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_C_COMPILER_LAUNCHER}")
endif()
