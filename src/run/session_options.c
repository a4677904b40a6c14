/* The options of an ONNX Runtime session: number of threads, graph optimization level, and the entries KEY=VALUE of
 * --session-config. A key with a dot is an entry of the runtime's configuration and goes to it as it is; a key without
 * one is an attribute of SessionOptions, under the name that it has in Python, and is set by a function of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/units.h"
#include "onnxcost/record.h"
#include "run/ort_lib.h"

static struct ort_status *set_execution_mode(const struct oc_ort *ort, struct ort_options *o, int value)
{
    return ort->set_execution_mode(o, value);
}

static struct ort_status *set_inter_threads(const struct oc_ort *ort, struct ort_options *o, int value)
{
    return ort->set_inter_threads(o, value);
}

static struct ort_status *set_arena(const struct oc_ort *ort, struct ort_options *o, int value)
{
    return value ? ort->enable_arena(o) : ort->disable_arena(o);
}

static struct ort_status *set_pattern(const struct oc_ort *ort, struct ort_options *o, int value)
{
    return value ? ort->enable_pattern(o) : ort->disable_pattern(o);
}

enum { MOST_THREADS = 4096 };

static const struct attribute {
    const char *name, *values; /* values: words that stand for 0, 1 ...; NULL: a number */
    int most;
    struct ort_status *(*set)(const struct oc_ort *ort, struct ort_options *o, int value);
} attributes[] = {
    {"execution_mode", "sequential parallel", 1, set_execution_mode},
    {"inter_op_num_threads", NULL, MOST_THREADS, set_inter_threads},
    {"enable_cpu_mem_arena", "0 1", 1, set_arena},
    {"enable_mem_pattern", "0 1", 1, set_pattern},
};

static const struct attribute *attribute_of(const char *entry)
{
    size_t n = strcspn(entry, "=");
    for (size_t i = 0; i < OC_COUNT(attributes); i++)
        if (strlen(attributes[i].name) == n && !strncmp(attributes[i].name, entry, n))
            return &attributes[i];
    return NULL;
}

/* The number that an attribute gets; -1: the text is none of its values. */
static int value_of(const struct attribute *a, const char *text)
{
    int64_t number;
    if (!a->values)
        return oc_parse_i64(text, strlen(text), &number) && number >= 0 && number <= a->most ? (int)number
                                                                                             : -1;
    const char *word = a->values;
    for (int i = 0; *word; i++) {
        size_t n = strcspn(word, " ");
        if (strlen(text) == n && !strncmp(word, text, n))
            return i;
        word += n + (word[n] == ' ');
    }
    return -1;
}

static int check_entry(const char *entry, struct oc_err *err)
{
    const char *equals = strchr(entry, '=');
    if (!equals || equals == entry)
        return oc_fail(err, OC_EARG, "--session-config needs KEY=VALUE, not '%s'", entry);
    const struct attribute *a = attribute_of(entry);
    if (!a && !memchr(entry, '.', (size_t)(equals - entry)))
        return oc_fail(err, OC_EARG,
                       "--session-config: '%.*s' is neither a key of ONNX Runtime's configuration, which has "
                       "a dot, nor one of "
                       "execution_mode, inter_op_num_threads, enable_cpu_mem_arena, enable_mem_pattern",
                       (int)(equals - entry), entry);
    if (a && value_of(a, equals + 1) < 0 && !a->values)
        return oc_fail(err, OC_EARG, "--session-config %s needs a number from 0 to %d, not '%s'", a->name,
                       a->most, equals + 1);
    if (a && value_of(a, equals + 1) < 0)
        return oc_fail(err, OC_EARG, "--session-config %s needs one of: %s; not '%s'", a->name, a->values,
                       equals + 1);
    return 0;
}

static int level_of(const char *name, int *out, struct oc_err *err)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"disabled", 0}, {"basic", 1}, {"extended", 2}, {"all", 99}};
    for (size_t i = 0; i < OC_COUNT(levels); i++)
        if (!strcmp(name ? name : "all", levels[i].name)) {
            *out = levels[i].level;
            return 0;
        }
    return oc_fail(err, OC_EARG, "unknown optimization level '%s'; there are: disabled, basic, extended, all",
                   name);
}

int oc_ort_check_options(const struct oc_record_opts *o, struct oc_err *err)
{
    int level;
    if (o->threads > MOST_THREADS)
        return oc_fail(err, OC_EARG, "%u threads are too many", o->threads);
    for (size_t i = 0; i < o->n_session_config; i++)
        if (check_entry(o->session_config[i], err))
            return -1;
    return level_of(o->level, &level, err);
}

static struct ort_status *set_entry(const struct oc_ort *ort, struct ort_options *to, const char *entry,
                                    struct oc_arena *a)
{
    const char *equals = strchr(entry, '=');
    const struct attribute *attribute = attribute_of(entry);
    if (attribute)
        return attribute->set(ort, to, value_of(attribute, equals + 1));
    return ort->add_config(to, oc_strndup(a, entry, (size_t)(equals - entry)), equals + 1);
}

struct ort_status *oc_ort_set_options(const struct oc_ort *ort, struct ort_options *to,
                                      const struct oc_record_opts *o, struct oc_arena *a)
{
    int level = 0;
    struct oc_err unused;
    level_of(o->level, &level, &unused); /* checked before */
    struct ort_status *status = ort->set_level(to, level);
    status = status ? status : ort->set_intra_threads(to, (int)o->threads);
    for (size_t i = 0; i < o->n_session_config && !status; i++)
        status = set_entry(ort, to, o->session_config[i], a);
    return status;
}
