# peruse_pthreadpool: the headers alone, because XNNPACK's name its types. The threads are core/backend/xnnpack/thread_pool.h.
add_library(peruse_pthreadpool INTERFACE)
target_include_directories(peruse_pthreadpool SYSTEM INTERFACE "${PERUSE_SOURCE_PTHREADPOOL}/include")
if(NOT EMSCRIPTEN)
  target_link_libraries(peruse_pthreadpool INTERFACE Threads::Threads)
endif()
