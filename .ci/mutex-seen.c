// Shows the Thread Sanitizer the locks of Synchronization.Mutex, on Linux.
//
// A free Mutex is locked by an atomic instruction that is compiled into the instrumented code. One that is held is
// locked in the standard library, which isn't instrumented, and handed over by the kernel. The sanitizer doesn't see
// that, so it reports a race between any two threads that have met at a Mutex. This library is loaded before the
// standard one, takes the two calls that go there, and says what they do. Without the sanitizer it changes nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

SWIFT void lock_slowly(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void unlock_slowly(SELF mutex) __asm__(UNLOCK);

SWIFT void lock_slowly(uint32_t thread, SELF mutex) {
    SWIFT void (*lock)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    lock(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slowly(SELF mutex) {
    SWIFT void (*unlock)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    unlock(mutex);
}
