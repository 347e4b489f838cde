# Toolchain file of the wasm presets: includes that of the Emscripten which set-up found.
include("${CMAKE_CURRENT_LIST_DIR}/environment.cmake")
include("${PERUSE_EMSCRIPTEN}/cmake/Modules/Platform/Emscripten.cmake")
