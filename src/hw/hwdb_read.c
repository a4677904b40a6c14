/* Reader of hardware files. Layout (hwdb/hwdb.rng is the schema):
 *
 *   hwdb version="1"
 *     source id title [url] [section]                      a document that figures come from
 *     device id name vendor kind [sku]                     or: id name base [vendor] [kind] [sku]
 *       alias name
 *       count of                      FIGURE               how many of something (SM, core, channel)
 *       clock kind                    FIGURE
 *       power of                      FIGURE               "TDP": design power
 *       unit kind name                                     vector, matrix or special
 *         peak class dense clock [accumulate]  FIGURE
 *         fallback class="f16" to="f32" note
 *       memory name [type]                                 nearest level first, DRAM last
 *         size FIGURE, bandwidth FIGURE
 *       overhead runtime              FIGURE               per launched operator
 *
 *   FIGURE: value [unit] basis [source] [section] [formula] [note]
 *
 * A device with base="ID" has what that device has, except for elements that it gives itself: a count by its
 * `of`, a clock by its kind, a power by its `of`, an overhead by its runtime; a unit by its kind and a memory
 * by its name, each as a whole. Names and aliases are not inherited.
 *
 * Everything not listed is an error. */
#include "hw/hw_reader.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/file.h"

static const struct oc_xml_format format = {oc_hw_specs, E_KINDS, OC_HW_MAX_FILE_BYTES};

static int append_devices(const struct oc_hw_reader *r, const char *name, struct oc_err *err)
{
    struct oc_device_list *list = r->how->list;
    if (list->n + r->n_draft > OC_HW_MAX_DEVICES)
        return oc_fail(err, OC_ELIMIT, "cannot read '%s': more than %u devices in total", name,
                       OC_HW_MAX_DEVICES);
    for (size_t i = 0; i < r->n_draft; i++) {
        OC_GROW(list->item, list->n, list->cap);
        list->item[list->n++] = r->draft[i]->dev;
    }
    return 0;
}

int oc_hw_read_text(const struct oc_hw_reading *how, const char *name, const void *data, size_t n,
                    struct oc_err *err)
{
    struct oc_err own = {0};
    err = err ? err : &own;
    struct oc_hw_reader r = {
        .arena = how->arena, .how = how, .err = err, .path = oc_strdup(how->arena, name)};
    r.source_ids.arena = r.names.arena = how->arena;
    int rc = oc_xml_read(&format, name, data, n, how->arena, &r, &r.xml, err);
    if (rc == 0)
        rc = oc_hw_finish(&r);
    if (rc == 0)
        rc = append_devices(&r, name, err);
    oc_map_free(&r.source_ids);
    oc_map_free(&r.names);
    free(r.source);
    free(r.draft);
    free(r.entry);
    free(r.level);
    free(r.alias);
    return rc;
}

int oc_hw_read_path(const struct oc_hw_reading *how, const char *path, struct oc_err *err)
{
    struct oc_file file;
    if (oc_file_map(path, OC_HW_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc =
        oc_hw_read_text(how, path, file.data ? (const void *)file.data : "", (size_t)file.size_bytes, err);
    oc_file_unmap(&file);
    return rc;
}

int oc_hw_read_mem(const char *name, const void *data, size_t n, struct oc_arena *arena,
                   struct oc_device_list *list, struct oc_err *err)
{
    return oc_hw_read_text(&(struct oc_hw_reading){.arena = arena, .list = list}, name, data, n, err);
}

int oc_hw_read_file(const char *path, struct oc_arena *arena, struct oc_device_list *list, struct oc_err *err)
{
    return oc_hw_read_path(&(struct oc_hw_reading){.arena = arena, .list = list}, path, err);
}
