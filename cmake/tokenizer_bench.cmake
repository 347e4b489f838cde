# Programs of `npm run bench:tokenizer`: the tokenizer as a WebAssembly module, and natively.
if(EMSCRIPTEN)
  set(tokenizer_bench_target tokenizer_module)
  add_executable(tokenizer_module EXCLUDE_FROM_ALL tests/bench/tokenizer/module.cc)
  set_target_properties(tokenizer_module PROPERTIES SUFFIX ".mjs")
  target_link_options(tokenizer_module PRIVATE --no-entry -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=node -sFILESYSTEM=0
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sABORTING_MALLOC=0 -sWASM_BIGINT=1
    -sEXPORTED_RUNTIME_METHODS=HEAPU8,HEAP32
    -sEXPORTED_FUNCTIONS=_malloc,_free,_bench_allocated,_bench_unload,_bench_load,_bench_encode,_bench_ids)
else()
  set(tokenizer_bench_target encode_bench)
  add_executable(encode_bench EXCLUDE_FROM_ALL tests/bench/tokenizer/encode_bench.cc)
endif()
target_link_libraries(${tokenizer_bench_target} PRIVATE peruse_core)
target_compile_options(${tokenizer_bench_target} PRIVATE ${PERUSE_WARNINGS})
