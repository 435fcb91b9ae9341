#include "InstructionCounter.h"

#if defined(__APPLE__)

#include <libproc.h>
#include <unistd.h>

long long instruction_counter_read(void) {
    struct rusage_info_v4 usage;
    if (proc_pid_rusage(getpid(), RUSAGE_INFO_V4, (rusage_info_t *)&usage) != 0) return -1;
    // Machines without such a counter leave it at zero.
    return usage.ri_instructions > 0 ? (long long)usage.ri_instructions : -1;
}

void instruction_counter_open(void) {}

#elif defined(__linux__)

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter = -1;

void instruction_counter_open(void) {
    struct perf_event_attr what;
    memset(&what, 0, sizeof what);
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    // Threads that are started later count as well, and theirs.
    what.inherit = 1;
    counter = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
}

long long instruction_counter_read(void) {
    long long count;
    return counter >= 0 && read(counter, &count, sizeof count) == sizeof count ? count : -1;
}

#else

void instruction_counter_open(void) {}

long long instruction_counter_read(void) { return -1; }

#endif
