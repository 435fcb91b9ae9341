#include "AllocationCounter.h"

#include <stdlib.h>

// glibc lets a program bring its own malloc and reach the original by another name, and the Swift runtime then uses
// it too, linked statically or dynamically. Sanitizers bring a malloc themselves.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(IS_SANITIZED)

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

// Nothing is counted while time is taken: a counter that all threads share costs more than some allocations.
static atomic_bool is_counting;
static atomic_long blocks;
static atomic_long bytes;

static inline bool counts(void) {
    return __builtin_expect(atomic_load_explicit(&is_counting, memory_order_relaxed), false);
}

static inline void *counted(void *block) {
    if (block && counts()) {
        atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
    }
    return block;
}

static inline void discounted(long size) {
    atomic_fetch_sub_explicit(&bytes, size, memory_order_relaxed);
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1))) return EINVAL;
    void *block = counted(__libc_memalign(alignment, size));
    if (!block) return ENOMEM;
    *result = block;
    return 0;
}

void *realloc(void *block, size_t size) {
    long before = block && counts() ? (long)malloc_usable_size(block) : 0;
    void *moved = counted(__libc_realloc(block, size));
    if (before && (moved || !size)) discounted(before);
    return moved;
}

void free(void *block) {
    if (block && counts()) discounted((long)malloc_usable_size(block));
    __libc_free(block);
}

bool allocation_counter_works(void) { return true; }

void allocation_counter_start(void) {
    atomic_store(&blocks, 0);
    atomic_store(&bytes, 0);
    atomic_store(&is_counting, true);
}

void allocation_counter_stop(void) { atomic_store(&is_counting, false); }

long allocation_counter_blocks(void) { return atomic_load(&blocks); }

long allocation_counter_bytes(void) { return atomic_load(&bytes); }

void allocation_counter_trim(void) { malloc_trim(0); }

#else

bool allocation_counter_works(void) { return false; }

void allocation_counter_start(void) {}

void allocation_counter_stop(void) {}

long allocation_counter_blocks(void) { return 0; }

long allocation_counter_bytes(void) { return 0; }

void allocation_counter_trim(void) {}

#endif
