// Too large allocations return null, as without a sanitizer; the tests of kOutOfMemory need that.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
