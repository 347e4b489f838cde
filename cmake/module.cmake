# peruse: the wasm module, as an ES module of the variant's name (peruse-simd.mjs, peruse-relaxed-threads.mjs, ...).
file(GLOB peruse_binding_files CONFIGURE_DEPENDS bindings/*.cc)
if(NOT peruse_binding_files)
  message(STATUS "bindings/ is empty: no wasm module")
  return()
endif()

add_executable(peruse ${peruse_binding_files})
target_link_libraries(peruse PRIVATE peruse_core)
target_compile_options(peruse PRIVATE ${PERUSE_WARNINGS})
target_compile_definitions(peruse PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
if(PERUSE_WEBGPU)
  target_compile_definitions(peruse PRIVATE PERUSE_WEBGPU)  # The session computes on a GPU, and the CPU kernels stay out.
endif()
set_target_properties(peruse PROPERTIES OUTPUT_NAME "peruse-${PERUSE_VARIANT}" SUFFIX ".mjs")
target_link_options(peruse PRIVATE
  --bind
  -sMODULARIZE=1
  -sEXPORT_ES6=1
  -sEXPORT_NAME=createPeruse
  -sENVIRONMENT=web,worker,node
  -sFILESYSTEM=0
  -sDYNAMIC_EXECUTION=0       # Works under a Content-Security-Policy without 'unsafe-eval'.
  -sALLOW_MEMORY_GROWTH=1
  -sINITIAL_MEMORY=16MB
  -sMAXIMUM_MEMORY=4GB
  -sSTACK_SIZE=1MB
  -sABORTING_MALLOC=0         # Out of memory is an answer, not an abort.
  -sWASM_BIGINT=1
  -sEXPORTED_RUNTIME_METHODS=HEAPU8
  -sNODEJS_CATCH_EXIT=0
  -sNODEJS_CATCH_REJECTION=0
)
if(PERUSE_THREADS)
  # The caller sets the option pthreadPoolSize: helpers beside the calling thread, started before the module is ready.
  # PThread: disposing of a model ends its helpers, else they keep the memory.
  target_link_options(peruse PRIVATE -sPTHREAD_POOL_SIZE=Module.pthreadPoolSize -Wno-pthreads-mem-growth
    -sEXPORTED_RUNTIME_METHODS=HEAPU8,PThread
    --js-library "${CMAKE_SOURCE_DIR}/bindings/pthread_worker.js")
  set_property(TARGET peruse APPEND PROPERTY LINK_DEPENDS "${CMAKE_SOURCE_DIR}/bindings/pthread_worker.js")
endif()
