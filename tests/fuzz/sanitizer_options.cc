// What the fuzzers want of the address sanitizer. Freed memory is kept from use for 8 MB more of allocations, which is many inputs'
// worth, instead of 256 MB, which no cache of a processor holds; a report shows the eight innermost functions of an allocation.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=8:malloc_context_size=8"; }
