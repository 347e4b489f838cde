# The WebAssembly modules, each with an ES module as its JavaScript loader:
#   peruse            computes on the CPU; one for each build (peruse-simd.wasm, peruse-relaxed-threads.wasm, ...)
#   peruse_webgpu     computes on a GPU; simd preset only, because the CPU only records
#   peruse_tokenizer  the tokenizer without models; simd preset
#   peruse_teach      trains, and reads and encodes weights files for tools; peruse-teach.wasm of the simd preset, peruse-teach-threads.wasm of simd-threads
file(GLOB peruse_binding_files CONFIGURE_DEPENDS bindings/*.cc)
if(NOT peruse_binding_files)
  message(STATUS "bindings/ is empty: no wasm module")
  return()
endif()

# Separate modules.
set(peruse_teach_file "${PROJECT_SOURCE_DIR}/bindings/teach_binding.cc")
set(peruse_weights_file "${PROJECT_SOURCE_DIR}/bindings/weights_reader_binding.cc")  # in engines and the module that trains
set(peruse_tokenizer_file "${PROJECT_SOURCE_DIR}/bindings/tokenizer_binding.cc")
set(peruse_names_file "${PROJECT_SOURCE_DIR}/bindings/type_names.cc")  # in every module
list(REMOVE_ITEM peruse_binding_files ${peruse_teach_file} ${peruse_tokenizer_file} ${peruse_names_file})

# Links a library and the given files into a module.
function(peruse_module target name library)
  add_executable(${target} ${ARGN} ${peruse_names_file})
  target_link_libraries(${target} PRIVATE ${library})
  target_compile_options(${target} PRIVATE ${PERUSE_WARNINGS} -Oz)
  target_compile_definitions(${target} PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}" SUFFIX ".mjs")
  target_link_options(${target} PRIVATE
    --bind
    -sMODULARIZE=1
    -sEXPORT_ES6=1
    -sEXPORT_NAME=createPeruse
    -sENVIRONMENT=web,worker    # in Node, too: TypeScript loads the file and starts the threads
    -sUSE_ES6_IMPORT_META=0
    -sFILESYSTEM=0
    -sDYNAMIC_EXECUTION=0       # for a Content-Security-Policy without 'unsafe-eval'
    -sALLOW_MEMORY_GROWTH=1
    -sINITIAL_MEMORY=16MB
    -sMEMORY_GROWTH_GEOMETRIC_STEP=0.05  # memory grows by 5 %: it mostly holds weights, so more would stay unused
    -sMAXIMUM_MEMORY=4GB
    -sSTACK_SIZE=1MB
    -sABORTING_MALLOC=0         # malloc returns null instead of aborting
    -sWASM_BIGINT=1
    -sEXPORTED_RUNTIME_METHODS=HEAPU8
    -sBINARYEN_EXTRA_PASSES=--one-caller-inline-max-function-size=25  # a larger function compresses better beside similar ones than within its caller
    --profiling-funcs           # functions' names, which tools/build.mjs moves into a file next to the module
  )
  if(PERUSE_THREADS)
    # The caller sets pthreadPoolSize, the number of threads without the calling one; they start before the module is ready. Disposing of a
    # model uses PThread to end its threads, which would otherwise keep the memory.
    target_link_options(${target} PRIVATE -sPTHREAD_POOL_SIZE=Module.pthreadPoolSize -Wno-pthreads-mem-growth
      -sEXPORTED_RUNTIME_METHODS=HEAPU8,PThread
      --js-library "${CMAKE_SOURCE_DIR}/bindings/start_helper.js")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${CMAKE_SOURCE_DIR}/bindings/start_helper.js")
  endif()
endfunction()

peruse_module(peruse "peruse-${PERUSE_VARIANT}" peruse_core ${peruse_binding_files})
if(PERUSE_VARIANT STREQUAL "simd")
  # Optimized for size, because pages load it only for the tokenizer. The engine has the same files, optimized for speed.
  file(GLOB peruse_tokenizer_core_files CONFIGURE_DEPENDS core/base/*.cc core/text/*.cc core/text/*/*.cc)
  list(REMOVE_ITEM peruse_tokenizer_core_files ${peruse_small_files})
  set(peruse_tokenizer_small_files "/core[/_](base|text)[/_]|/core/api/(option_reader|tokenizer_session)\\.")
  add_library(peruse_tokenizer_core STATIC ${peruse_tokenizer_core_files})
  peruse_unity(peruse_tokenizer_core)
  target_sources(peruse_tokenizer_core PRIVATE
    "$<FILTER:$<TARGET_OBJECTS:peruse_core_small>,INCLUDE,${peruse_tokenizer_small_files}>")
  target_include_directories(peruse_tokenizer_core PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(peruse_tokenizer_core PRIVATE ${PERUSE_WARNINGS} -Oz)
  target_link_libraries(peruse_tokenizer_core PRIVATE peruse_rapidjson)
  peruse_precompiled(peruse_tokenizer_core ${peruse_standard_headers})
  peruse_module(peruse_tokenizer peruse-tokenizer peruse_tokenizer_core ${peruse_tokenizer_file})
  target_link_options(peruse_tokenizer PRIVATE -Oz -sMALLOC=emmalloc)
  peruse_module(peruse_webgpu peruse-webgpu peruse_webgpu_backend ${peruse_binding_files})
  target_compile_definitions(peruse_webgpu PRIVATE PERUSE_WEBGPU)
endif()
# Training exists in two builds, with and without shared memory. Their results are bit-identical.
if(PERUSE_VARIANT MATCHES "^simd")
  string(REPLACE "simd" "teach" peruse_teach_name "${PERUSE_VARIANT}")
  peruse_module(peruse_teach "peruse-${peruse_teach_name}" peruse_train ${peruse_teach_file} ${peruse_weights_file})
endif()
