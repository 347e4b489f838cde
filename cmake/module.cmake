# The wasm modules and their glue, an ES module: `peruse`, of the variant's name (peruse-simd.wasm, peruse-relaxed-threads.wasm, ...), computes on
# the CPU; `peruse_webgpu` (peruse-webgpu.mjs, of the simd preset alone: the CPU only records there) computes on a GPU;
# `peruse_tokenizer` (of that preset too) is the tokenizer without models; `peruse_teach` (peruse-teach.wasm of that preset,
# peruse-teach-threads.wasm of simd-threads) trains.
file(GLOB peruse_binding_files CONFIGURE_DEPENDS bindings/*.cc)
set(peruse_tool_files "${PROJECT_SOURCE_DIR}/bindings/weights_reader_binding.cc")  # Tools use them, with a CPU's module.
if(NOT peruse_binding_files)
  message(STATUS "bindings/ is empty: no wasm module")
  return()
endif()

set(peruse_teach_files "${PROJECT_SOURCE_DIR}/bindings/teach_binding.cc")  # Modules of their own.
set(peruse_tokenizer_file "${PROJECT_SOURCE_DIR}/bindings/tokenizer_binding.cc")
list(REMOVE_ITEM peruse_binding_files ${peruse_tool_files} ${peruse_teach_files} ${peruse_tokenizer_file})

# Links the module `target` under the given file name, of a library and these files.
function(peruse_module target name library)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE ${library})
  target_compile_options(${target} PRIVATE ${PERUSE_WARNINGS} -Oz)
  target_compile_definitions(${target} PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}" SUFFIX ".mjs")
  target_link_options(${target} PRIVATE
    --bind
    -sMODULARIZE=1
    -sEXPORT_ES6=1
    -sEXPORT_NAME=createPeruse
    -sENVIRONMENT=web,worker    # In Node too: TypeScript brings the file and the helpers, so the glue asks for nothing of the place.
    -sUSE_ES6_IMPORT_META=0
    -sFILESYSTEM=0
    -sDYNAMIC_EXECUTION=0       # Works under a Content-Security-Policy without 'unsafe-eval'.
    -sALLOW_MEMORY_GROWTH=1
    -sINITIAL_MEMORY=16MB
    -sMEMORY_GROWTH_GEOMETRIC_STEP=0.05  # Of what is held: weights are most of it, and what grows too far stays unused.
    -sMAXIMUM_MEMORY=4GB
    -sSTACK_SIZE=1MB
    -sABORTING_MALLOC=0         # Out of memory is an answer, not an abort.
    -sWASM_BIGINT=1
    -sEXPORTED_RUNTIME_METHODS=HEAPU8
  )
  if(PERUSE_THREADS)
    # The caller sets the option pthreadPoolSize: helpers beside the calling thread, started before the module is ready.
    # PThread: disposing of a model ends its helpers, else they keep the memory.
    target_link_options(${target} PRIVATE -sPTHREAD_POOL_SIZE=Module.pthreadPoolSize -Wno-pthreads-mem-growth
      -sEXPORTED_RUNTIME_METHODS=HEAPU8,PThread
      --js-library "${CMAKE_SOURCE_DIR}/bindings/start_helper.js")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${CMAKE_SOURCE_DIR}/bindings/start_helper.js")
  endif()
endfunction()

peruse_module(peruse "peruse-${PERUSE_VARIANT}" peruse_core ${peruse_binding_files} ${peruse_tool_files})
if(PERUSE_VARIANT STREQUAL "simd")
  # Small, because pages load it for the tokenizer alone; in the engine the same files are made for speed.
  file(GLOB peruse_tokenizer_core_files CONFIGURE_DEPENDS core/base/*.cc core/text/*.cc)
  add_library(peruse_tokenizer_core STATIC ${peruse_tokenizer_core_files} core/api/option_reader.cc core/api/tokenizer_session.cc)
  target_include_directories(peruse_tokenizer_core PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(peruse_tokenizer_core PRIVATE ${PERUSE_WARNINGS} -Oz)
  target_link_libraries(peruse_tokenizer_core PRIVATE peruse_rapidjson)
  peruse_precompiled(peruse_tokenizer_core ${peruse_standard_headers})
  peruse_module(peruse_tokenizer peruse-tokenizer peruse_tokenizer_core ${peruse_tokenizer_file})
  target_link_options(peruse_tokenizer PRIVATE -Oz -sMALLOC=emmalloc)
  peruse_module(peruse_webgpu peruse-webgpu peruse_webgpu_backend ${peruse_binding_files})
  target_compile_definitions(peruse_webgpu PRIVATE PERUSE_WEBGPU)
endif()
# The module that trains is made twice, for every page and for those whose memory can be shared; of the same arithmetic, so that both teach
# the same to the bit.
if(PERUSE_VARIANT MATCHES "^simd")
  string(REPLACE "simd" "teach" peruse_teach_name "${PERUSE_VARIANT}")
  peruse_module(peruse_teach "peruse-${peruse_teach_name}" peruse_train ${peruse_teach_files})
endif()
