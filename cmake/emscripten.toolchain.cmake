# The toolchain file of the wasm presets: Emscripten's own, from wherever set-up found it.
include("${CMAKE_CURRENT_LIST_DIR}/environment.cmake")
include("${PERUSE_EMSCRIPTEN}/cmake/Modules/Platform/Emscripten.cmake")
