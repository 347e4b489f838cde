# peruse_gpu_tests: backend and model tests on the WebGPU backend, as a wasm module that waits for the GPU with Asyncify, which only these
# tests use. tests/node/gpu/run_gpu_tests.mjs runs it in Node, tests/browser/gpu/operations.test.ts in Chromium.
file(GLOB peruse_gpu_test_files CONFIGURE_DEPENDS tests/node/gpu/*.cc)
add_executable(peruse_gpu_tests EXCLUDE_FROM_ALL ${peruse_gpu_test_files})
target_link_libraries(peruse_gpu_tests PRIVATE peruse_device_tests peruse_test_support peruse_webgpu_backend)
target_compile_options(peruse_gpu_tests PRIVATE ${peruse_test_options})
target_precompile_headers(peruse_gpu_tests REUSE_FROM peruse_test_support)
set_target_properties(peruse_gpu_tests PROPERTIES SUFFIX ".mjs")
target_link_options(peruse_gpu_tests PRIVATE -O1 -sENVIRONMENT=node,web -lnodefs.js -sFORCE_FILESYSTEM=1
  -sEXPORTED_RUNTIME_METHODS=FS -sMODULARIZE=1 -sEXPORT_ES6=1
  -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sABORTING_MALLOC=0 -sWASM_BIGINT=1
  -sASYNCIFY=1 -sASYNCIFY_STACK_SIZE=65536)
