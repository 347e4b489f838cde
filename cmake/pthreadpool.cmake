# XNNPACK's headers use pthreadpool's types. core/cpu/thread_pool.h has the threads.
add_library(peruse_pthreadpool INTERFACE)
target_include_directories(peruse_pthreadpool SYSTEM INTERFACE "${PERUSE_SOURCE_PTHREADPOOL}/include")
if(NOT EMSCRIPTEN)
  target_link_libraries(peruse_pthreadpool INTERFACE Threads::Threads)
endif()
