#include "onnxcost.h"
#include "harness.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/json_write.h"

static void text(struct oc_json_out *w, const char *key, const char *value)
{
    oc_jw_key(w, key);
    oc_jw_string(w, value);
}

static void number(struct oc_json_out *w, const char *key, double value)
{
    oc_jw_key(w, key);
    oc_jw_double(w, value);
}

static void whole(struct oc_json_out *w, const char *key, uint64_t value)
{
    oc_jw_key(w, key);
    oc_jw_u64(w, value);
}

/* A generic description: the relevant properties, not the name of the machine. */
static void put_machine(struct oc_json_out *w)
{
    struct utsname u;
    oc_jw_key(w, "machine");
    oc_jw_begin_object(w);
    text(w, "processor", uname(&u) == 0 ? u.machine : NULL);
    whole(w, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    number(w, "memory_gb", (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * 1e-9);
    oc_jw_end_object(w);
}

static void put_item(struct oc_json_out *w, const struct item *x)
{
    oc_jw_begin_object(w);
    if (x->name)
        text(w, "name", x->name);
    number(w, "median_ms", x->median_ms);
    number(w, "least_ms", x->least_ms);
    number(w, "least_cpu_ms", x->least_cpu_ms);
    oc_jw_key(w, "samples_ms");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < x->n; i++)
        oc_jw_double(w, x->ms[i]);
    oc_jw_end_array(w);
    number(w, "rss_mb", x->rss_mb);
    number(w, "private_mb", x->private_mb);
    oc_jw_key(w, "exit_code");
    oc_jw_i64(w, x->code);
    oc_jw_end_object(w);
}

static void put_command(struct oc_json_out *w, const struct command *c)
{
    oc_jw_begin_object(w);
    text(w, "id", c->id);
    text(w, "group", c->group);
    text(w, "title", c->title);
    text(w, "command", c->text);
    text(w, "skipped", c->missing);
    number(w, "size", c->size);
    number(w, "count", c->count);
    oc_jw_key(w, "on");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; !c->missing && i < c->n_item; i++)
        put_item(w, &c->item[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void put_figure(struct oc_json_out *w, const char *key, const char *kind, struct figure f,
                       enum relation r)
{
    oc_jw_key(w, key);
    oc_jw_begin_object(w);
    text(w, "what", kind);
    number(w, "value", f.value);
    text(w, "unit", *f.unit ? f.unit : NULL);
    text(w, "wanted", r == ANY ? NULL : bench_relation_sign(r));
    number(w, "limit", f.limit);
    text(w, "verdict", f.verdict == NO_VERDICT ? NULL : bench_verdict_name(f.verdict));
    if (f.item)
        text(w, "of", f.item);
    oc_jw_end_object(w);
}

static void put_target(struct oc_json_out *w, const struct target *t)
{
    enum verdict v = bench_machine_verdict(t);
    oc_jw_begin_object(w);
    text(w, "title", t->title);
    text(w, "of", t->of->id);
    text(w, "against", t->against ? t->against->id : NULL);
    put_figure(w, "figure", t->figure, bench_figure(t), t->figure_wanted.relation);
    put_figure(w, "ratio", t->ratio, bench_ratio(t), t->ratio_wanted.relation);
    text(w, "verdict", v == NO_VERDICT ? NULL : bench_verdict_name(v));
    oc_jw_end_object(w);
}

static int check(const char *path, struct oc_err *err)
{
    struct oc_stream *s;
    uint64_t at = 0;
    if (oc_stream_open(path, NULL, &s, err))
        return -1;
    struct oc_json *j = oc_json_open(s);
    bool good = oc_json_skip(j) && !oc_json_error(j, &at) && !oc_json_truncated(j);
    oc_json_close(j);
    oc_stream_close(s);
    return good ? 0 : oc_fail(err, OC_EFORMAT, "'%s' is not JSON", path);
}

int bench_write_json(const struct tables *t, const char *path, bool quick, double others, struct oc_err *err)
{
    char date[32];
    time_t now = time(NULL);
    FILE *f = fopen(path, "w");
    if (!f)
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s'", path);
    struct oc_json_out out = {.f = f, .pretty = true}, *w = &out;
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    oc_jw_begin_object(w);
    text(w, "schema", "onnxcost.bench");
    text(w, "version", ONNXCOST_VERSION);
    text(w, "date", date);
    oc_jw_key(w, "quick");
    oc_jw_bool(w, quick);
    put_machine(w);
    number(w, "others_processors", others);
    oc_jw_key(w, "targets");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < t->n_target; i++)
        put_target(w, &t->target[i]);
    oc_jw_end_array(w);
    oc_jw_key(w, "measurements");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < t->n_command; i++)
        put_command(w, &t->command[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
    fputc('\n', f);
    if (ferror(f) || fclose(f))
        return oc_fail(err, OC_EOUTPUT, "cannot write '%s'", path);
    return check(path, err);
}
