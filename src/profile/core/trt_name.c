#include "profile/core/kernel_names.h"

#include <string.h>

#include "base/str.h"

#define MAX_NESTING 64
#define MAX_JOINED  6    /* maximum number of separators in one name */
#define MAX_NAME    1024 /* maximum length of a name with separators */
#define MAX_PARTS   1024
#define COUNT(x)    (sizeof(x) / sizeof((x)[0]))

/* Length without trailing digits, n if there are none. */
static size_t before_digits(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] >= '0' && s[n - 1] <= '9')
        n--;
    return n;
}

static bool numbered(const char *s, size_t n, const char *stem)
{
    size_t k = before_digits(s, n);
    return k < n && oc_str_ends(oc_str(s, k), stem);
}

const char *trt_overhead(const char *s, size_t n)
{
    if (oc_str_starts(oc_str(s, n), "Reformatting CopyNode for ") || numbered(s, n, " input reformatter ") ||
        numbered(s, n, " output reformatter ")) /* up to 8.0 */
        return "reformat";
    if (oc_str_ends(oc_str(s, n), " copy") || oc_str_starts(oc_str(s, n), "[HostToDeviceCopy") ||
        oc_str_ends(oc_str(s, n), "[DevicetoShapeHostCopy]"))
        return "copies";
    if (oc_str_ends(oc_str(s, n), " to nvm") || oc_str_ends(oc_str(s, n), " from nvm") ||
        oc_str_ends(oc_str(s, n), " copy finish"))
        return "DLA transfers";
    if (oc_str_starts(oc_str(s, n), "[trainStation"))
        return "framework";
    if (oc_str_starts(oc_str(s, n), "dummy_shape_call__mye"))
        return "inserted";
    return numbered(s, n, "_clone_") ? "inserted" : NULL;
}

size_t trt_stem(const char *s, size_t n)
{
    if (n && s[n - 1] == ']' && numbered(s, n - 1, " [profile "))
        n = before_digits(s, n - 1) - strlen(" [profile ");
    if (!numbered(s, n, "_"))
        return n;
    size_t k = before_digits(s, n) - 1;
    return numbered(s, k, "_myl") ? before_digits(s, k) - strlen("_myl") : n;
}

/* ---- parts ------------------------------------------------------------------------------------------ */

struct split {
    const struct trt_known *known;
    struct trt_part *out;
    size_t n, max;
};

static void trt_name_add(struct split *x, struct trt_part part)
{
    if (x->n < x->max)
        x->out[x->n] = part;
    x->n++;
}

static bool trt_name_is_name(const struct split *x, const char *s, size_t n)
{
    return x->known && n && n <= MAX_NAME && x->known->is_name(x->known->ctx, s, n);
}

static int trt_name_depth_of(char c)
{
    return strchr("([{", c) && c ? 1 : strchr(")]}", c) && c ? -1 : 0;
}

/* Length of the separator at s, 0: none. Commas are separators only inside PWN(). */
static size_t separator(const char *s, size_t n, bool commas)
{
    if (oc_str_starts(oc_str(s, n), " + "))
        return 3;
    if (oc_str_starts(oc_str(s, n), " || "))
        return 4;
    return commas && oc_str_starts(oc_str(s, n), ", ") ? 2 : 0;
}

static bool is_balanced(const char *s, size_t n)
{
    long depth = 0;
    for (size_t i = 0; i < n && depth >= 0; i++)
        depth += trt_name_depth_of(s[i]);
    return depth == 0;
}

/* "{ForeignNode[first...last]}" */
static bool add_range(struct split *x, const char *s, size_t n)
{
    static const char head[] = "{ForeignNode[";
    if (!oc_str_starts(oc_str(s, n), head) || !oc_str_ends(oc_str(s, n), "]}"))
        return false;
    const char *first = s + sizeof(head) - 1, *end = s + n - 2;
    const char *dots = memmem(first, (size_t)(end - first), "...", 3);
    struct trt_part part = {.kind = TRT_RANGE, .s = first, .n = (size_t)((dots ? dots : end) - first)};
    part.last = dots ? dots + 3 : first;
    part.n_last = (size_t)(end - part.last);
    trt_name_add(x, part);
    return true;
}

/* Layers that the builder inserts around a node. */
static bool add_made(struct split *x, const char *s, size_t n)
{
    static const struct {
        const char *head;
        enum trt_kind kind;
    } row[] = {
        {"node_of_", TRT_TENSOR},           {"reshape_after_", TRT_ADDED},
        {"reshape_before_", TRT_ADDED},     {"unsqueeze_node_after_", TRT_ADDED},
        {"squeeze_node_after_", TRT_ADDED}, {"unsqueeze_after_", TRT_ADDED},
        {"squeeze_after_", TRT_ADDED},      {"copied_squeeze_after_", TRT_ADDED},
        {"transpose_before_", TRT_ADDED},   {"transpose_after_", TRT_ADDED},
    };
    if (oc_str_starts(oc_str(s, n), "(Unnamed Layer*")) {
        trt_name_add(x, (struct trt_part){.kind = TRT_UNNAMED, .s = s, .n = n});
        return true;
    }
    if (oc_str_starts(oc_str(s, n), "__myl_") || oc_str_starts(oc_str(s, n), "__mye")) {
        trt_name_add(x, (struct trt_part){.kind = TRT_GENERATED, .s = s, .n = n});
        return true;
    }
    for (size_t i = 0; i < COUNT(row); i++) {
        size_t k = strlen(row[i].head);
        if (n > k && oc_str_starts(oc_str(s, n), row[i].head)) {
            trt_name_add(x, (struct trt_part){.kind = row[i].kind, .s = s + k, .n = n - k});
            return true;
        }
    }
    return false;
}

static void split_list(struct split *x, const char *s, size_t n, bool commas, unsigned nesting);

static void add_one(struct split *x, const char *s, size_t n, unsigned nesting)
{
    if (!trt_name_is_name(x, s, n)) {
        if (n > 5 && oc_str_starts(oc_str(s, n), "PWN(") && s[n - 1] == ')' && nesting < MAX_NESTING) {
            split_list(x, s + 4, n - 5, true, nesting + 1);
            return;
        }
        if (add_range(x, s, n) || add_made(x, s, n))
            return;
    }
    trt_name_add(x, (struct trt_part){.kind = TRT_NODE, .s = s, .n = n});
}

/* End of the part that begins at s: the longest known name that ends at one of the next separators,
 * otherwise the first separator outside brackets; n: none. *sep: length of the separator. */
static size_t part_end(const struct split *x, const char *s, size_t n, bool commas, bool balanced,
                       size_t *sep)
{
    size_t first = n, best = n, first_sep = 0, best_sep = 0, seen = 0;
    long depth = 0;
    for (size_t i = 0; i < n && (first == n || (x->known && seen < MAX_JOINED)); i++) {
        size_t k = separator(s + i, n - i, commas);
        if (k && (depth == 0 || !balanced) && first == n) {
            first = i;
            first_sep = k;
        }
        if (k && x->known && seen++ < MAX_JOINED && trt_name_is_name(x, s, i)) {
            best = i;
            best_sep = k;
        }
        depth += trt_name_depth_of(s[i]);
    }
    *sep = best < n ? best_sep : first_sep;
    return best < n ? best : first;
}

static void split_list(struct split *x, const char *s, size_t n, bool commas, unsigned nesting)
{
    bool balanced = is_balanced(s, n);
    while (n > 0) {
        size_t sep = 0, end = trt_name_is_name(x, s, n) ? n : part_end(x, s, n, commas, balanced, &sep);
        if (x->n >= MAX_PARTS)
            end = n;
        if (end > 0)
            add_one(x, s, end, x->n >= MAX_PARTS ? MAX_NESTING : nesting);
        sep = end < n ? sep : 0;
        s += end + sep;
        n -= end + sep;
    }
}

size_t trt_split(const char *s, size_t n, const struct trt_known *known, struct trt_part *out, size_t max)
{
    struct split x = {.known = known, .out = out, .max = max};
    split_list(&x, s, n, false, 0);
    return x.n;
}
