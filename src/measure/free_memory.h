/* Memory that is free on this machine (device_file.c). */
#ifndef OC_FREE_MEMORY_H
#define OC_FREE_MEMORY_H

#include <stdint.h>

uint64_t oc_memory_available(void); /* to this process, without swapping: bytes; 0: unknown */

#endif
