#ifndef INSTRUCTION_COUNTER_H
#define INSTRUCTION_COUNTER_H

// Counts the instructions of the whole process, outside of the system, where the machine has a counter for them and lets
// this process use it.

/// To be called by the first thread, before there are others: what they do counts from their start on.
void instruction_counter_open(void);

/// How many there have been since then, or since the process began. Less than zero where nobody tells.
long long instruction_counter_read(void);

#endif
