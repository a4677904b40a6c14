/* Memory that is there, or the end of the program: exit code 4, nothing half written left. Freed with free().
 */
#ifndef OC_CLI_XMEM_H
#define OC_CLI_XMEM_H

#include <stddef.h>

void *cli_xcalloc(size_t n, size_t size_bytes);
void *cli_xrealloc(void *old, size_t size_bytes);
char *cli_xstrndup(const char *s, size_t n);

/* The handler of oc_set_oom_handler. 0 bytes: unknown size. */
_Noreturn void cli_out_of_memory(size_t size_bytes);

#endif
