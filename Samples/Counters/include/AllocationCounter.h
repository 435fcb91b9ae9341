#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

// Counts what the whole process allocates, on all its threads, between a start and a stop. One count at a time.

/// True if allocations can be counted on this platform and in this build.
bool allocation_counter_works(void);

/// Starts counting from zero.
void allocation_counter_start(void);

/// Stops counting. The counts stay readable.
void allocation_counter_stop(void);

/// The number of allocated blocks. A resized block counts again.
long allocation_counter_blocks(void);

/// The allocated bytes minus the freed bytes, including frees of earlier allocations.
long allocation_counter_bytes(void);

/// Returns unused memory to the system, where the platform can.
void allocation_counter_trim(void);

#endif
