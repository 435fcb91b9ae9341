#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

// Counts what the whole process allocates, on all its threads, between a start and a stop. One count at a time.

/// Whether allocations can be counted on this platform and in this build.
bool allocation_counter_works(void);

/// Begins to count, from zero.
void allocation_counter_start(void);

/// Stops counting. What has been counted stays.
void allocation_counter_stop(void);

/// How many blocks were allocated. A block that was made larger or smaller counts once more.
long allocation_counter_blocks(void);

/// How many bytes were allocated, less those that were freed, also if they had been allocated before the start.
long allocation_counter_bytes(void);

/// Gives memory that nothing uses any more back to the system, where the platform can.
void allocation_counter_trim(void);

#endif
