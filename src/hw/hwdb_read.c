/* Reader of hardware files. Layout (hwdb/hwdb.rng is the schema):
 *
 *   hwdb version="1"
 *     source id title [url] [section]                      a document that figures come from
 *     device id name vendor kind
 *       alias name
 *       count of                      FIGURE               how many of something (SM, core, channel)
 *       clock kind                    FIGURE
 *       unit kind name                                     vector, matrix or special
 *         peak class dense clock [accumulate]  FIGURE
 *         fallback class="f16" to="f32" note
 *       memory name [type]                                 nearest level first, DRAM last
 *         size FIGURE, bandwidth FIGURE
 *       overhead runtime              FIGURE               per launched operator
 *
 *   FIGURE: value [unit] basis [source] [section] [formula] [note]
 *
 * Everything not listed is an error. */
#include "hw/hw_reader.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/file.h"

static const struct oc_xml_format format = {oc_hw_specs, E_KINDS, OC_HW_MAX_FILE_BYTES};

int oc_hw_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                   struct oc_device_list *list, struct oc_err *err)
{
    struct oc_hw_reader r = {.arena = arena, .path = oc_strdup(arena, name)};
    r.source_ids.arena = r.names.arena = arena;
    int rc = oc_xml_read(&format, name, data, n, arena, &r, &r.xml, err);
    if (rc == 0 && list->n + r.done.n > OC_HW_MAX_DEVICES)
        rc =
            oc_fail(err, OC_ELIMIT, "cannot read '%s': more than %u devices in all", name, OC_HW_MAX_DEVICES);
    for (size_t i = 0; rc == 0 && i < r.done.n; i++) {
        OC_GROW(list->item, list->n, list->cap);
        list->item[list->n++] = r.done.item[i];
    }
    oc_map_free(&r.source_ids);
    oc_map_free(&r.names);
    free(r.source);
    free(r.done.item);
    free(r.entry);
    free(r.level);
    free(r.alias);
    return rc;
}

int oc_hw_read_file(const char *path, struct oc_arena *arena, struct oc_device_list *list, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, OC_HW_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_hw_read_mem(path, file.data ? (const void *)file.data : "", (size_t)file.size_bytes, arena,
                            list, err);
    oc_file_unmap(&file);
    return rc;
}
