#ifndef INSTRUCTION_COUNTER_H
#define INSTRUCTION_COUNTER_H

// Counts the instructions of the whole process, outside of the system, where the machine has a counter for them and lets
// this process use it.

/// Must be called by the first thread before others start. Later threads are counted from their start.
void instruction_counter_open(void);

/// The number of instructions since then, or since the process began. Negative where the machine has no counter.
long long instruction_counter_read(void);

#endif
