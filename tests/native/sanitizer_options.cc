// What the sanitized test program wants of its sanitizers; other builds never call this.

// An allocation too large for the sanitizer gives null, as without it: the tests of kOutOfMemory need that.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
