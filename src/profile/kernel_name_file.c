/* Reads files of kernel names:
 *
 *   kernel-names version="1"
 *     kernel match [with] [without] [precision] [unit] [class] [library] [algorithm] */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/file.h"
#include "base/xml_read.h"
#include "profile/kernel_names.h"

#define MAX_ROWS 10000

struct oc_kernel_names {
    struct oc_arena arena;
    struct oc_kernel_row *row; /* on the heap */
    size_t n, cap;
};

struct reader {
    const struct oc_xml *xml;
    struct oc_kernel_names *names;
};

enum { E_NAMES, E_KERNEL, E_KINDS };

static bool is_class(const char *text)
{
    const char *name;
    for (size_t i = 0; (name = oc_kernel_class(i)); i++)
        if (strcmp(name, text) == 0)
            return true;
    return false;
}

/* NULL: attribute is absent; "": explicitly unknown. */
static const char *fact(const struct oc_xml_elem *e, const char *name)
{
    const char *text = oc_xml_get(e, name);
    return text && strcmp(text, "unknown") == 0 ? "" : text;
}

static int check_row(struct reader *r, const struct oc_kernel_row *row)
{
    const struct oc_kernel_facts *f = &row->says;
    if (!row->match[strspn(row->match, "*|^")])
        return oc_xml_fail(r->xml, "the pattern matches every name");
    if (!f->precision && !f->unit && !f->op_class && !f->library && !f->algorithm)
        return oc_xml_fail(r->xml, "sets nothing: add precision, unit, class, library or algorithm");
    if (f->precision && f->precision[0] && oc_class_by_name(f->precision) == OC_CLASS_NONE)
        return oc_xml_fail(r->xml, "unknown precision '%.40s' (f64, f32, tf32, f16, bf16, f8, f4, i8 ...)",
                           f->precision);
    if (f->unit && f->unit[0] && oc_kernel_unit(f->unit) == OC_UNIT_UNKNOWN)
        return oc_xml_fail(
            r->xml, "unknown unit '%.40s' (tensor core, matrix core, tile unit, CUDA core, vector)", f->unit);
    if (f->op_class && f->op_class[0] && !is_class(f->op_class))
        return oc_xml_fail(r->xml, "unknown class '%.40s' (conv, gemm, pool, elementwise ...)", f->op_class);
    return 0;
}

static int kernel_name_file_start_kernel(void *user, const struct oc_xml_elem *e)
{
    struct reader *r = user;
    struct oc_kernel_names *names = r->names;
    struct oc_kernel_row row = {.match = oc_xml_get(e, "match"),
                                .with = oc_xml_get(e, "with"),
                                .without = oc_xml_get(e, "without"),
                                .says = {.precision = fact(e, "precision"),
                                         .unit = fact(e, "unit"),
                                         .op_class = fact(e, "class"),
                                         .library = fact(e, "library"),
                                         .algorithm = fact(e, "algorithm")}};
    if (names->n == MAX_ROWS)
        return oc_xml_fail(r->xml, "more than %d rows", MAX_ROWS);
    if (check_row(r, &row))
        return -1;
    OC_GROW(names->row, names->n, names->cap);
    names->row[names->n++] = row;
    return 0;
}

static const struct oc_xml_spec specs[E_KINDS] = {
    [E_NAMES] = {"kernel-names", OC_XML_ROOT, NULL, false, "version", "", NULL, NULL},
    [E_KERNEL] = {"kernel", E_NAMES, "match", false, "match",
                  "with without precision unit class library algorithm", kernel_name_file_start_kernel, NULL},
};
static const struct oc_xml_format format = {specs, E_KINDS, "1", OC_KERNEL_NAMES_MAX_FILE_BYTES};

int oc_kernel_names_read_mem(const char *name, const void *data, size_t n, struct oc_kernel_names **out,
                             struct oc_err *err)
{
    struct oc_kernel_names *names = oc_xmalloc(sizeof(*names));
    *names = (struct oc_kernel_names){.n = 0};
    struct reader r = {.names = names};
    int rc = oc_xml_read(&format, name, data, n, &names->arena, &r, &r.xml, err);
    if (rc)
        oc_kernel_names_free(names);
    *out = rc ? NULL : names;
    return rc;
}

int oc_kernel_names_load(const char *path, struct oc_kernel_names **out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_file file;
    *out = NULL;
    if (oc_file_map(path, OC_KERNEL_NAMES_MAX_FILE_BYTES, &file, err))
        return -1;
    int rc = oc_kernel_names_read_mem(path, file.data, (size_t)file.size_bytes, out, err);
    oc_file_unmap(&file);
    return rc;
}

void oc_kernel_names_free(struct oc_kernel_names *names)
{
    if (!names)
        return;
    free(names->row);
    oc_arena_free(&names->arena);
    free(names);
}

const struct oc_kernel_row *oc_kernel_names_rows(const struct oc_kernel_names *own, size_t *n)
{
    *n = own->n;
    return own->row;
}
