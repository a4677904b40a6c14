/* What the operating system reports about the machine, and the device file: the reported and the measured figures. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/units.h"
#include "base/os.h"
#include "measure/free_memory.h"
#include "measure/measure.h"
#include "onnxcost.h"

/* ---- /proc ------------------------------------------------------------------------------------------ */

/* The value of the first line "key : value" of a file, or "". */
static void proc_value(const char *path, const char *key, char *out, size_t cap)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    out[0] = '\0';
    while (f && fgets(line, sizeof(line), f)) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0 || !strchr("\t :", line[n]))
            continue;
        const char *value = line + n + strspn(line + n, "\t :");
        snprintf(out, cap, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (f)
        fclose(f);
}

static uint64_t meminfo(const char *key)
{
    char text[64];
    uint64_t kib = 0;
    proc_value("/proc/meminfo", key, text, sizeof(text));
    return oc_parse_u64(text, strcspn(text, " "), &kib) && kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
}

/* The cgroup limit may be lower than the memory of the machine. */
static uint64_t group_limit(void)
{
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < OC_COUNT(files); i++) {
        char line[64] = "";
        uint64_t bytes;
        FILE *f = fopen(files[i], "r");
        bool got = f && fgets(line, sizeof(line), f);
        if (f)
            fclose(f);
        if (got && oc_parse_u64(line, strcspn(line, "\n"), &bytes) && bytes)
            return bytes;
    }
    return UINT64_MAX;
}

uint64_t oc_memory_available(void)
{
    uint64_t limit = group_limit(), free_bytes = meminfo("MemAvailable");
    return free_bytes < limit ? free_bytes : limit;
}

/* Removes trademarks, "CPU" and the clock from "Intel(R) Xeon(R) CPU E5 @ 2.2GHz". */
static const char *machine_plain_name(struct oc_arena *a, const char *name)
{
    static const char *const drop[] = {"(R)", "(TM)", "(r)", "(tm)", "CPU "};
    char *out = oc_strdup(a, name), *w = out;
    for (const char *p = name; *p && *p != '@';) {
        size_t n = 0;
        for (size_t i = 0; i < OC_COUNT(drop) && !n; i++)
            n = strncmp(p, drop[i], strlen(drop[i])) == 0 ? strlen(drop[i]) : 0;
        if (!n && !(*p == ' ' && (w == out || w[-1] == ' ')))
            *w++ = *p;
        p += n ? n : 1;
    }
    while (w > out && w[-1] == ' ')
        w--;
    *w = '\0';
    return out;
}

static const char *vendor_name(struct oc_arena *a)
{
    static const struct {
        const char *id, *name;
    } vendors[] = {
        {"GenuineIntel", "Intel"},   {"AuthenticAMD", "AMD"}, {"HygonGenuine", "Hygon"},
        {"CentaurHauls", "Zhaoxin"}, {"0x41", "Arm"},         {"0x42", "Broadcom"},
        {"0x43", "Cavium"},          {"0x46", "Fujitsu"},     {"0x48", "HiSilicon"},
        {"0x4e", "NVIDIA"},          {"0x51", "Qualcomm"},    {"0x61", "Apple"},
        {"0x6d", "Microsoft"},       {"0xc0", "Ampere"},
    };
    char text[64];
    proc_value("/proc/cpuinfo", "vendor_id", text, sizeof(text));
    if (!text[0])
        proc_value("/proc/cpuinfo", "CPU implementer", text, sizeof(text));
    for (size_t i = 0; i < OC_COUNT(vendors); i++)
        if (strcmp(vendors[i].id, text) == 0)
            return vendors[i].name;
    return text[0] ? oc_strdup(a, text) : "unknown";
}

static const char *model_name(struct oc_arena *a, const char *vendor, const char *machine)
{
    char text[200], part[64];
    proc_value("/proc/cpuinfo", "model name", text, sizeof(text));
    if (!text[0]) {
        proc_value("/proc/cpuinfo", "CPU part", part, sizeof(part));
        if (part[0])
            snprintf(text, sizeof(text), "%s part %s", vendor, part);
    }
    return text[0] ? machine_plain_name(a, text) : oc_printf(a, "%s processor", machine);
}

static bool has_hypervisor(void)
{
    char flags[4096];
    proc_value("/proc/cpuinfo", "flags", flags, sizeof(flags));
    return strstr(flags, " hypervisor") || access("/sys/hypervisor/type", R_OK) == 0;
}

/* ---- caches ----------------------------------------------------------------------------------------- */

static bool cache_text(unsigned cpu, unsigned index, const char *what, char *out, size_t cap)
{
    char path[128];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, what);
    FILE *f = fopen(path, "r");
    bool got = f && fgets(out, (int)cap, f);
    if (f)
        fclose(f);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got;
}

struct seen { /* one cache: its level and the processors that share it */
    unsigned level;
    char shared[256];
    unsigned threads;
    struct seen *next;
};

static struct seen *find_seen(struct oc_arena *a, struct seen **list, unsigned level, const char *shared)
{
    for (struct seen *s = *list; s; s = s->next)
        if (s->level == level && strcmp(s->shared, shared) == 0)
            return s;
    struct seen *s = OC_NEW(a, struct seen);
    *s = (struct seen){.level = level, .next = *list};
    snprintf(s->shared, sizeof(s->shared), "%s", shared);
    *list = s;
    return s;
}

static void add_cache(struct oc_arena *a, struct seen **list, unsigned cpu, unsigned index,
                      struct oc_machine *m)
{
    char level[16], type[32], size[32], shared[256];
    double bytes;
    uint64_t at;
    if (!cache_text(cpu, index, "level", level, sizeof(level)) ||
        !cache_text(cpu, index, "type", type, sizeof(type)) ||
        !cache_text(cpu, index, "size", size, sizeof(size)) ||
        !cache_text(cpu, index, "shared_cpu_list", shared, sizeof(shared)))
        return;
    size_t n = strlen(size);
    double unit = n && size[n - 1] == 'K' ? 1024 : n && size[n - 1] == 'M' ? 1048576 : 1;
    if (strcmp(type, "Instruction") == 0 || !oc_parse_u64(level, strlen(level), &at) || at < 1 ||
        at > OC_CACHE_LEVELS || !oc_parse_double(size, n - (unit > 1), &bytes) || !(bytes > 0))
        return;
    struct oc_cache_claim *c = &m->cache[at - 1];
    struct seen *s = find_seen(a, list, (unsigned)at, shared);
    c->instances += s->threads == 0;
    s->threads++;
    c->threads = s->threads > c->threads ? s->threads : c->threads;
    c->bytes = (uint64_t)(bytes * unit);
}

static void query_caches(struct oc_arena *a, unsigned threads, struct oc_machine *m)
{
    struct seen *list = NULL;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && threads; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        threads--;
        for (unsigned index = 0; index < 8; index++)
            add_cache(a, &list, cpu, index, m);
    }
}

void oc_machine_ask(struct oc_arena *a, unsigned threads, struct oc_machine *out)
{
    struct utsname u;
    *out = (struct oc_machine){.processors = oc_os_processors()};
    bool named = uname(&u) == 0;
    out->system = named ? oc_printf(a, "%s %s %s", u.sysname, u.release, u.machine) : "unknown";
    out->vendor = vendor_name(a);
    out->model = model_name(a, out->vendor, named ? u.machine : "unknown");
    out->is_virtual = has_hypervisor();
    out->memory_bytes = meminfo("MemTotal");
    out->available_bytes = oc_memory_available();
    query_caches(a, threads, out);
}

/* ---- text of the device file ------------------------------------------------------------------------ */

static void device_file_attribute(struct oc_buf *b, const char *name, const char *text)
{
    oc_buf_printf(b, " %s=\"", name);
    for (; *text; text++) {
        const char *escape = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (escape)
            oc_buf_str(b, escape);
        else
            oc_buf_char(b, (char)((unsigned char)*text < ' ' ? ' ' : *text));
    }
    oc_buf_char(b, '"');
}

/* At least four digits, and never 0, which the format rejects. */
static void device_file_value(struct oc_buf *b, double v, const char *unit)
{
    int decimals = 2;
    double least = 10;
    while (decimals < 9 && v < least) {
        least /= 10;
        decimals++;
    }
    oc_buf_printf(b, " value=\"%.*f\"", decimals, v > 1e-9 ? v : 1e-9);
    if (*unit)
        device_file_attribute(b, "unit", unit);
}

static void device_file_measured(struct oc_buf *b, const char *note)
{
    oc_buf_str(b, " basis=\"measured\" source=\"measured\"");
    if (note && *note)
        device_file_attribute(b, "note", note);
    oc_buf_str(b, "/>\n");
}

static void reported_by_system(struct oc_buf *b, const char *note)
{
    oc_buf_str(b, " basis=\"vendor\" source=\"system\"");
    if (note)
        device_file_attribute(b, "note", note);
    oc_buf_str(b, "/>\n");
}

/* "avx512 fused multiply-adds": lower case and single hyphens, as in device names. */
static void identifier(const struct oc_measured *m, char *out, size_t cap)
{
    size_t n = 0;
    for (const char *p = m->machine.model; *p && n + 24 < cap; p++) {
        bool upper = *p >= 'A' && *p <= 'Z', plain = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9');
        if (upper || plain)
            out[n++] = (char)(upper ? *p - 'A' + 'a' : *p);
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    snprintf(out + n, cap - n, "%s%u-thread%s", n ? "-" : "cpu-", m->threads, m->threads > 1 ? "s" : "");
}

static int device_file_percent(const struct oc_rate *r)
{
    return (int)(100 * r->median / r->best + 0.5);
}

/* ---- peaks ------------------------------------------------------------------------------------------ */

/* Peaks of a unit and class, the fastest first. Returns their number. */
static unsigned peaks_of(const struct oc_measured *m, unsigned unit, unsigned cls,
                         const struct oc_peak_rate *out[OC_MAX_PEAKS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < m->n_peak; i++) {
        const struct oc_peak_rate *p = &m->peak[i];
        if (p->kernel->unit != unit || p->kernel->cls != cls)
            continue;
        unsigned at = n++;
        for (; at && out[at - 1]->all.best < p->all.best; at--)
            out[at] = out[at - 1];
        out[at] = p;
    }
    return n;
}

static void write_peak(struct oc_buf *b, const struct oc_measured *m, const struct oc_peak_rate *p, bool all)
{
    const struct oc_peak_kernel *k = p->kernel;
    const struct oc_rate *r = all ? &p->all : &p->one;
    char note[200];
    unsigned cores = all ? m->threads : 1;
    double clock = m->clock[all].best;
    oc_buf_str(b, "      <peak");
    device_file_attribute(b, "class", oc_class_name(k->cls));
    if (k->accumulate)
        device_file_attribute(b, "accumulate", oc_class_name(k->accumulate));
    device_file_attribute(b, "isa", k->isa);
    if (!all)
        device_file_attribute(b, "cores", "1");
    device_file_value(b, r->best / 1e9, oc_class_is_int(k->cls) ? "GOP/s" : "GFLOP/s");
    oc_buf_str(b, " dense=\"yes\" clock=\"sustained\"");
    snprintf(note, sizeof(note), "%s; %.1f per cycle and core; the median of %u samples is %d %% of it",
             k->how, r->best / clock / cores, r->samples, device_file_percent(r));
    device_file_measured(b, note);
}

static bool has_class(const struct oc_measured *m, unsigned unit, unsigned cls)
{
    const struct oc_peak_rate *p[OC_MAX_PEAKS];
    return peaks_of(m, unit, cls, p) > 0;
}

static void unit_name(const struct oc_measured *m, unsigned unit, struct oc_buf *out)
{
    for (unsigned i = 0; i < m->n_peak; i++) {
        bool seen = false;
        for (unsigned k = 0; k < i; k++)
            seen |=
                m->peak[k].kernel->unit == unit && !strcmp(m->peak[k].kernel->isa, m->peak[i].kernel->isa);
        if (m->peak[i].kernel->unit == unit && !seen)
            oc_buf_printf(out, "%s%s", out->n ? ", " : "", m->peak[i].kernel->isa);
    }
}

static void write_unit(struct oc_buf *b, const struct oc_measured *m, unsigned unit)
{
    const struct oc_peak_rate *p[OC_MAX_PEAKS];
    struct oc_buf name = {0};
    unit_name(m, unit, &name);
    if (!name.n)
        return;
    oc_buf_str(b, "    <unit");
    device_file_attribute(b, "kind", oc_hw_unit_name(unit));
    device_file_attribute(b, "name", name.data);
    oc_buf_str(b, ">\n");
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        unsigned n = peaks_of(m, unit, c, p);
        for (unsigned i = 0; i < n; i++)
            write_peak(b, m, p[i], true);
        for (unsigned i = 0; i < n && m->threads > 1; i++)
            write_peak(b, m, p[i], false);
    }
    if (unit == OC_HW_VECTOR && !has_class(m, unit, OC_CLASS_F16))
        oc_buf_str(b, "      <fallback class=\"f16\" to=\"f32\" note=\"No f16 arithmetic instructions: "
                      "operands are converted to f32.\"/>\n");
    oc_buf_str(b, "    </unit>\n");
    oc_buf_free(&name);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* The highest rate reached, including one core: an upper bound for any program. */
static double ceiling(const struct oc_level_rates *l, unsigned *mode, bool *all)
{
    double best = 0;
    for (unsigned i = 0; i < 2 * OC_LEVEL_MODES; i++) {
        double rate = l->rate[i < OC_LEVEL_MODES][i % OC_LEVEL_MODES].best;
        if (rate > best) {
            best = rate;
            *mode = i % OC_LEVEL_MODES;
            *all = i < OC_LEVEL_MODES;
        }
    }
    return best;
}

static void write_size(struct oc_buf *b, const struct oc_level_rates *l)
{
    char text[240];
    unsigned n = l->claim.instances ? l->claim.instances : 1;
    double kib = (double)l->size_bytes / 1024, claim = (double)l->claim.bytes / 1024;
    bool mib = kib >= 4096;
    oc_buf_str(b, "      <size");
    device_file_value(b, n * (mib ? kib / 1024 : kib), mib ? "MiB" : "KiB");
    if (l->size_bytes != l->claim.bytes) {
        snprintf(text, sizeof(text),
                 "%s%.4g KiB each; the system reports %.6g KiB, but the read bandwidth of one core drops "
                 "here: the cache is shared, or the reported size is wrong",
                 n > 1 ? "several, " : "", kib, claim);
        device_file_measured(b, text);
        return;
    }
    if (n > 1) {
        oc_buf_str(b, " basis=\"derived\" source=\"system\"");
        snprintf(text, sizeof(text), "%u cache * %.6g KiB", n, claim);
        device_file_attribute(b, "formula", text);
    } else {
        oc_buf_str(b, " basis=\"vendor\" source=\"system\"");
    }
    if (l->border_bytes)
        snprintf(text, sizeof(text), "The read bandwidth of one core drops at %.4g KiB.",
                 (double)l->border_bytes / 1024);
    else
        snprintf(text, sizeof(text), "Not visible in the read bandwidth of one core.");
    device_file_attribute(b, "note", text);
    oc_buf_str(b, "/>\n");
}

static void write_rate(struct oc_buf *b, const struct oc_level_rates *l, unsigned mode, bool all)
{
    const struct oc_rate *r = &l->rate[all][mode];
    char note[160];
    if (!(r->best > 0))
        return;
    const struct oc_stream_place *place = all ? &l->all : &l->one;
    oc_buf_str(b, "      <bandwidth");
    device_file_attribute(b, "mode", oc_level_mode_name(mode));
    if (!all)
        device_file_attribute(b, "cores", "1");
    device_file_value(b, r->best / 1e9, "GB/s");
    snprintf(note, sizeof(note), "%.6g KiB per core; the median of %u samples is %d %% of it",
             (double)place->bytes / 1024, r->samples, device_file_percent(r));
    device_file_measured(b, note);
}

/* A level further from the cores is slower; a level that was not measured has no bandwidth to compare with.
 */
static bool faster_than_rest(const struct oc_levels *l, unsigned i)
{
    unsigned mode;
    bool all;
    double own = ceiling(&l->level[i], &mode, &all);
    bool faster = own > 0;
    for (unsigned k = i + 1; k < l->n; k++)
        faster &= own > 1.02 * ceiling(&l->level[k], &mode, &all);
    return faster;
}

static bool larger_than_before(const struct oc_levels *l, unsigned i)
{
    for (unsigned k = 0; k < i; k++) {
        const struct oc_level_rates *x = &l->level[k], *y = &l->level[i];
        if ((double)y->size_bytes * y->claim.instances <= (double)x->size_bytes * x->claim.instances)
            return false;
    }
    return true;
}

static void write_level(struct oc_buf *b, const struct oc_measured *m, unsigned i)
{
    const struct oc_level_rates *l = &m->levels.level[i];
    bool dram = i + 1 == m->levels.n;
    char note[160];
    unsigned mode = 0;
    bool by_all = true;
    double best = ceiling(l, &mode, &by_all);
    if (!dram && !larger_than_before(&m->levels, i))
        return;
    oc_buf_str(b, "    <memory");
    device_file_attribute(b, "name", l->name);
    oc_buf_str(b, ">\n");
    if (!dram) {
        write_size(b, l);
    } else if (m->machine.memory_bytes) {
        oc_buf_str(b, "      <size");
        device_file_value(b, (double)m->machine.memory_bytes / 1073741824.0, "GiB");
        reported_by_system(b, "Memory available to programs.");
    }
    if (faster_than_rest(&m->levels, i)) {
        oc_buf_str(b, "      <bandwidth");
        device_file_value(b, best / 1e9, "GB/s");
        snprintf(note, sizeof(note), "The highest of the rates below: %s%s.", oc_level_mode_name(mode),
                 by_all || m->threads == 1 ? "" : " by one core");
        device_file_measured(b, note);
    }
    for (int all = 1; all >= (m->threads > 1 ? 0 : 1); all--)
        for (unsigned k = 0; k < OC_LEVEL_MODES; k++)
            write_rate(b, l, k, all);
    oc_buf_str(b, "    </memory>\n");
}

/* ---- document --------------------------------------------------------------------------------------- */

static void write_sources(struct oc_buf *b, const struct oc_measured *m)
{
    char text[300];
    oc_buf_str(b, "  <source id=\"measured\"");
    device_file_attribute(b, "title", "onnxcost " ONNXCOST_VERSION ", hw measure");
    snprintf(text, sizeof(text), "%s; %u of %u processors; %s%s%s%s", m->when, m->threads,
             m->machine.processors, m->machine.system, m->machine.is_virtual ? "; a virtual machine" : "",
             4 * oc_measured_noisy(m) > m->n_peak ? "; other programs were running" : "",
             m->quick ? "; quick: a trial, not a valid measurement" : "");
    device_file_attribute(b, "section", text);
    oc_buf_str(b, "/>\n  <source id=\"system\" title=\"Machine description of the operating system\"");
    device_file_attribute(b, "section", "/proc/cpuinfo, /proc/meminfo, /sys/devices/system/cpu");
    oc_buf_str(b, "/>\n");
}

static void device_file_write_time(struct oc_buf *b, const char *tag, const char *key, const char *name,
                                   double seconds, const char *note)
{
    bool ns = seconds < 1e-6;
    if (!(seconds > 0) || isinf(seconds))
        return;
    oc_buf_printf(b, "    <%s", tag);
    /* NOLINTNEXTLINE(readability-suspicious-call-argument): the key is the attribute's name */
    device_file_attribute(b, key, name);
    device_file_value(b, seconds * (ns ? 1e9 : 1e6), ns ? "ns" : "us");
    device_file_measured(b, note);
}

static void device_file_write_times(struct oc_buf *b, const struct oc_measured *m)
{
    device_file_write_time(
        b, "overhead", "runtime", "any", m->region_awake_s,
        "An empty parallel region with spinning threads. The dispatch cost of a runtime is added to it.");
    device_file_write_time(b, "latency", "of", "parallel-region", m->region_awake_s,
                           "Fork and join of a parallel region with spinning threads; median.");
    device_file_write_time(b, "latency", "of", "parallel-region-asleep", m->region_asleep_s,
                           "The same with sleeping threads; median.");
    device_file_write_time(b, "latency", "of", "timer-read", m->timer.read_s, "One clock reading; mean.");
    device_file_write_time(b, "latency", "of", "timer-step", m->timer.step_s,
                           "Clock resolution: the smallest difference of two readings.");
}

static void write_clocks(struct oc_buf *b, const struct oc_measured *m)
{
    char note[200];
    oc_buf_str(b, "    <count of=\"thread\"");
    oc_buf_printf(b, " value=\"%u\"", m->threads);
    reported_by_system(b, "Measured processors, one thread each.");
    oc_buf_str(b, "    <clock kind=\"sustained\"");
    device_file_value(b, m->clock[1].best / 1e9, "GHz");
    snprintf(note, sizeof(note),
             "From dependent additions, one per cycle, all cores busy; with one core busy %.3f GHz.",
             m->clock[0].best / 1e9);
    device_file_measured(b, note);
}

void oc_measured_write_xml(const struct oc_measured *m, struct oc_buf *b)
{
    char id[160], text[300];
    oc_buf_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hwdb version=\"1\">\n");
    write_sources(b, m);
    identifier(m, id, sizeof(id));
    oc_buf_str(b, "  <device");
    device_file_attribute(b, "id", id);
    snprintf(text, sizeof(text), "%s, %u thread%s, measured", m->machine.model, m->threads,
             m->threads > 1 ? "s" : "");
    device_file_attribute(b, "name", text);
    device_file_attribute(b, "vendor", m->machine.vendor);
    oc_buf_str(b, " kind=\"cpu\"");
    snprintf(text, sizeof(text), "%u of %u processors%s", m->threads, m->machine.processors,
             m->machine.is_virtual ? " of a virtual machine" : "");
    device_file_attribute(b, "sku", text);
    oc_buf_str(b, ">\n");
    write_clocks(b, m);
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        write_unit(b, m, u);
    for (unsigned i = 0; i < m->levels.n; i++)
        write_level(b, m, i);
    device_file_write_times(b, m);
    oc_buf_str(b, "  </device>\n</hwdb>\n");
}
