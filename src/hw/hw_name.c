/* Names of devices: one spelling, and what a misspelled one may mean. */
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "hw/hwdb.h"

char *oc_hw_name_fold(struct oc_arena *arena, const char *name)
{
    char *s = oc_strdup(arena, name);
    for (char *p = s; *p; p++)
        *p = oc_fold_char(*p);
    return s;
}

int oc_hw_unknown(struct oc_err *err, const char *name, const char *where, struct oc_device *const *device,
                  size_t n_device)
{
    const char *const more = n_device ? "onnxcost hw list lists them" : NULL;
    size_t n = 0, cap = 0;
    const char **list = NULL;
    for (size_t i = 0; i < n_device; i++) {
        const struct oc_device_info *info = &device[i]->info;
        for (size_t k = 0; k <= info->n_alias; k++) {
            OC_GROW(list, n, cap);
            list[n++] = k ? info->alias[k - 1] : info->id;
        }
    }
    char in_file[400];
    snprintf(in_file, sizeof(in_file), "in '%.300s'", where ? where : "");
    oc_fail_unknown(err, OC_ENOTFOUND,
                    &(struct oc_unknown){.what = "device",
                                         .where = where ? in_file : NULL,
                                         .given = name,
                                         .valid = list,
                                         .n = n,
                                         .more = where ? NULL : more});
    free(list);
    return -1;
}
