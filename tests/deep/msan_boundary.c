/* For MODE=msan: the libraries are not instrumented, so MemorySanitizer does not see what they write. Memory
 * that a library allocates counts as initialized (options below); that of the program does not, and what zlib
 * writes into it does. */
#include <sanitizer/allocator_interface.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>
#include <zlib.h>

const char *__msan_default_options(void);
void *__real_malloc(size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *p);
int __real_inflate(z_streamp z, int flush);
int __real_deflate(z_streamp z, int flush);
void *__wrap_malloc(size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *p);
int __wrap_inflate(z_streamp z, int flush);
int __wrap_deflate(z_streamp z, int flush);

const char *__msan_default_options(void)
{
    return "poison_in_malloc=0:poison_in_free=0:exit_code=77";
}

void *__wrap_malloc(size_t bytes)
{
    void *p = __real_malloc(bytes);
    if (p)
        __msan_allocated_memory(p, bytes);
    return p;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    size_t had = old ? __sanitizer_get_allocated_size(old) : 0;
    char *p = __real_realloc(old, bytes);
    if (p && bytes > had)
        __msan_allocated_memory(p + had, bytes - had);
    return p;
}

/* A library may get the same memory. */
void __wrap_free(void *p)
{
    if (p)
        __msan_unpoison(p, __sanitizer_get_allocated_size(p));
    __real_free(p);
}

static int written(z_streamp z, const unsigned char *from, int rc)
{
    __msan_unpoison(z, sizeof(*z));
    __msan_unpoison(from, (size_t)(z->next_out - from));
    return rc;
}

int __wrap_inflate(z_streamp z, int flush)
{
    const unsigned char *from = z->next_out;
    return written(z, from, __real_inflate(z, flush));
}

int __wrap_deflate(z_streamp z, int flush)
{
    const unsigned char *from = z->next_out;
    return written(z, from, __real_deflate(z, flush));
}
