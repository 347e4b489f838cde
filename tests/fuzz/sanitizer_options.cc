// Reuses freed memory after 8 MB of allocations instead of 256 MB, which exceeds processor caches, and limits stack traces of allocations
// to eight functions.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=8:malloc_context_size=8"; }
