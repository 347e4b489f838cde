# peruse_pthreadpool: with threads the real pool, without them its one-thread stand-in of the same interface.
set(peruse_pthreadpool_src "${PERUSE_SOURCE_PTHREADPOOL}/src")
if(EMSCRIPTEN AND NOT PERUSE_THREADS)
  set(peruse_pthreadpool_files shim.c)
else()
  set(peruse_pthreadpool_files memory.c portable-api.c pthreads.c fastpath.c)
endif()
list(TRANSFORM peruse_pthreadpool_files PREPEND "${peruse_pthreadpool_src}/")

add_library(peruse_pthreadpool STATIC ${peruse_pthreadpool_files})
target_include_directories(peruse_pthreadpool SYSTEM PUBLIC
  "${PERUSE_SOURCE_PTHREADPOOL}/include" PRIVATE "${PERUSE_SOURCE_FXDIV}/include" "${peruse_pthreadpool_src}")
target_compile_definitions(peruse_pthreadpool PRIVATE _GNU_SOURCE=1 PTHREADPOOL_USE_CPUINFO=0 PTHREADPOOL_USE_FUTEX=0
  PTHREADPOOL_USE_CONDVAR=1 PTHREADPOOL_USE_GCD=0 PTHREADPOOL_USE_EVENT=0 PTHREADPOOL_USE_FASTPATH=0)
target_compile_options(peruse_pthreadpool PRIVATE -w)
if(PERUSE_SANITIZE)
  target_compile_options(peruse_pthreadpool PRIVATE -fno-sanitize=undefined)  # It calls through casted function types.
endif()
if(NOT EMSCRIPTEN)
  target_link_libraries(peruse_pthreadpool PUBLIC Threads::Threads)
endif()
