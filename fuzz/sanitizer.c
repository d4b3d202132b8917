/* What the fuzzers ask of AddressSanitizer: its defaults keep 256 MB of freed memory and long traces of every allocation,
 * which costs readers of small files a third of their time. ASAN_OPTIONS goes before. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=8";
}
