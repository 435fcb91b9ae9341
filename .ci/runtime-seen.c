// Shows the Thread Sanitizer what the Swift runtime orders, on Linux. It sees instrumented code only, and takes for a
// race what the runtime has put in order. This library is loaded before the runtime, takes some of the calls that go
// there, and says what they order. Without the sanitizer it changes nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define ASYNC __attribute__((swiftasynccall))
#define SELF __attribute__((swift_context)) void *
#define ASYNC_CONTEXT __attribute__((swift_async_context))

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

static void acquire(void *address) {
    if (__tsan_acquire) __tsan_acquire(address);
}

static void release(void *address) {
    if (__tsan_release) __tsan_release(address);
}

// The runtime's own function of a name. Several threads may look it up, and find the same.
#define RUNTIME(type, variable, name) \
    static _Atomic(type) cached; \
    type variable = atomic_load_explicit(&cached, memory_order_relaxed); \
    if (!variable) { \
        variable = (type)dlsym(RTLD_NEXT, name); \
        atomic_store_explicit(&cached, variable, memory_order_relaxed); \
    }

// Tasks. The runtime would say itself what jobs, actors and continuations order, if it were told that there is a
// sanitizer. On Linux nobody tells it.
__attribute__((constructor)) static void begin(void) {
    void (*initialized)(void) = (void (*)(void))dlsym(RTLD_NEXT, "__tsan_on_initialize");
    if (initialized && __tsan_acquire) initialized();
}

// What it doesn't say: that one who comes to await what was resumed already goes on after that. So whoever goes on does
// so by way of this library, which keeps for each context that is awaited where it goes on.
typedef struct Context {
    struct Context *parent;
    ASYNC void (*resume)(ASYNC_CONTEXT struct Context *);
} Context;

typedef ASYNC void (*Resume)(ASYNC_CONTEXT Context *);
typedef ASYNC void (*Await)(Context *);

typedef struct Awaited {
    Context *context;
    Resume resume;
    struct Awaited *next;
} Awaited;

static struct {
    atomic_flag taken;
    Awaited *first;
} rows[4096];

#define ROW(context) (((uintptr_t)(context) >> 4) % (sizeof rows / sizeof *rows))

static void take(uintptr_t row) {
    while (atomic_flag_test_and_set_explicit(&rows[row].taken, memory_order_acquire)) {}
}

static void leave(uintptr_t row) {
    atomic_flag_clear_explicit(&rows[row].taken, memory_order_release);
}

SWIFT void *swift_task_getCurrent(void) __attribute__((weak));

ASYNC static void go_on(ASYNC_CONTEXT Context *context) {
    uintptr_t row = ROW(context);
    take(row);
    Awaited **place = &rows[row].first;
    while ((*place)->context != context) place = &(*place)->next;
    Awaited *found = *place;
    *place = found->next;
    leave(row);
    Resume resume = found->resume;
    free(found);
    acquire(swift_task_getCurrent());
    __attribute__((musttail)) return resume(context);
}

ASYNC void swift_continuation_await(Context *context) {
    RUNTIME(Await, await, "swift_continuation_await")
    Awaited *awaited = malloc(sizeof *awaited);
    uintptr_t row = ROW(context);
    take(row);
    *awaited = (Awaited){context, context->resume, rows[row].first};
    rows[row].first = awaited;
    leave(row);
    context->resume = go_on;
    __attribute__((musttail)) return await(context);
}

// Locks. A free Mutex is locked by an atomic instruction that is compiled into the instrumented code. One that is held
// is locked in the standard library, and handed over by the kernel.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
typedef SWIFT void (*Lock)(uint32_t, SELF);
typedef SWIFT void (*Unlock)(SELF);

SWIFT void lock_slowly(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void unlock_slowly(SELF mutex) __asm__(UNLOCK);

SWIFT void lock_slowly(uint32_t thread, SELF mutex) {
    RUNTIME(Lock, lock, LOCK)
    lock(thread, mutex);
    acquire(mutex);
}

SWIFT void unlock_slowly(SELF mutex) {
    RUNTIME(Unlock, unlock, UNLOCK)
    release(mutex);
    unlock(mutex);
}

// Counts of references. Whoever finds that nobody else has an array, and writes into it, comes after all who have let
// it go. Who lets go is said only of the classes that this is asked of, or it would take too long.
static atomic_bool kinds[1 << 16];

static atomic_bool *kind(void *object) {
    uintptr_t class = *(uintptr_t *)object;
    return &kinds[(class >> 3) % (sizeof kinds / sizeof *kinds)];
}

typedef bool (*IsUnique)(void *);
typedef void (*Release)(void *);
typedef void (*ReleaseMany)(void *, uint32_t);

// The bits of a bridge object that are none of the address. What isn't above zero is no object, or counts nothing.
#define ADDRESS 0x00fffffffffffff8

static void lets_go(void *object) {
    if ((intptr_t)object <= 0) return;
    object = (void *)((uintptr_t)object & ADDRESS);
    if (atomic_load_explicit(kind(object), memory_order_relaxed)) release(object);
}

bool swift_isUniquelyReferenced_nonNull_native(void *object) {
    RUNTIME(IsUnique, is_unique, "swift_isUniquelyReferenced_nonNull_native")
    atomic_store_explicit(kind(object), true, memory_order_relaxed);
    bool answer = is_unique(object);
    if (answer) acquire(object);
    return answer;
}

void swift_release(void *object) {
    RUNTIME(Release, let_go, "swift_release")
    lets_go(object);
    let_go(object);
}

void swift_release_n(void *object, uint32_t count) {
    RUNTIME(ReleaseMany, let_go, "swift_release_n")
    lets_go(object);
    let_go(object, count);
}

void swift_bridgeObjectRelease(void *object) {
    RUNTIME(Release, let_go, "swift_bridgeObjectRelease")
    lets_go(object);
    let_go(object);
}
