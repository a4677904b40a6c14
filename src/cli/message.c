/* Messages on standard error; signals, and faults of mapped files. */
#include "cli/output.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void fault_clean_up(void);

void cli_out_of_memory(size_t size_bytes)
{
    fault_clean_up();
    if (size_bytes)
        cli_fail(CLI_ENVIRONMENT, "out of memory (%zu bytes)", size_bytes);
    else
        cli_fail(CLI_ENVIRONMENT, "out of memory");
    _exit(CLI_ENVIRONMENT); /* standard output may be in the middle of anything */
}

void *cli_xcalloc(size_t n, size_t size_bytes)
{
    void *p = calloc(n ? n : 1, size_bytes);
    if (!p)
        cli_out_of_memory(n * size_bytes);
    return p;
}

void *cli_xrealloc(void *old, size_t size_bytes)
{
    void *p = realloc(old, size_bytes);
    if (!p)
        cli_out_of_memory(size_bytes);
    return p;
}

char *cli_xstrndup(const char *s, size_t n)
{
    char *p = strndup(s, n);
    if (!p)
        cli_out_of_memory(n + 1);
    return p;
}

/* ---- message ---------------------------------------------------------------------------------------- */

/* File names and texts from files may hold anything: the message stays one printable line. */
static void message_print_line(const char *prefix, const char *fmt, va_list ap)
{
    char text[2048];
    vsnprintf(text, sizeof(text), fmt, ap);
    const char *wipe = isatty(STDERR_FILENO) ? "\r\033[K" : ""; /* a progress line may be there */
    fprintf(stderr, "%sonnxcost: %s%s\n", wipe, prefix, oc_make_visible(text));
}

int cli_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_print_line("", fmt, ap);
    va_end(ap);
    return code;
}

void cli_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message_print_line("warning: ", fmt, ap);
    va_end(ap);
}

void cli_warn_diag(const struct oc_diag *d, bool code)
{
    const char *where = d->where ? d->where : "", *between = *where ? ": " : "";
    if (code)
        cli_warn("%s%s%s [%s]", where, between, d->text, d->code);
    else
        cli_warn("%s%s%s", where, between, d->text);
}

static const unsigned char exit_of[] = {
    [OC_OK] = CLI_INPUT,        [OC_EIO] = CLI_INPUT,           [OC_EFORMAT] = CLI_INPUT,
    [OC_ELIMIT] = CLI_INPUT,    [OC_EUNSUPPORTED] = CLI_INPUT,  [OC_EARG] = CLI_USAGE,
    [OC_ENOTFOUND] = CLI_USAGE, [OC_EOUTPUT] = CLI_ENVIRONMENT, [OC_ELIBRARY] = CLI_ENVIRONMENT,
    [OC_ESTOPPED] = CLI_INPUT,  [OC_EMEMORY] = CLI_ENVIRONMENT,
};

int cli_fail_err(const struct oc_err *err)
{
    char place[96] = "";
    if (err->line && err->offset_bytes)
        snprintf(place, sizeof(place), " (line %u, offset %llu)", (unsigned)err->line,
                 (unsigned long long)err->offset_bytes);
    else if (err->line)
        snprintf(place, sizeof(place), " (line %u)", (unsigned)err->line);
    else if (err->offset_bytes)
        snprintf(place, sizeof(place), " (offset %llu)", (unsigned long long)err->offset_bytes);
    int code = (size_t)err->code < sizeof(exit_of) ? exit_of[err->code] : CLI_INPUT;
    bool whole = !strncmp(err->msg, "cannot read '",
                          13); /* the reader's message has the file, lines, and some offsets */
    if (whole)
        return cli_fail(code == CLI_USAGE && err->code == OC_ENOTFOUND ? CLI_INPUT : code, "%s%s", err->msg,
                        err->line || strstr(err->msg, place) ? "" : place);
    if (err->file[0] && !strstr(err->msg, err->file))
        return cli_fail(code, "cannot read '%s': %s%s", err->file, err->msg, place);
    return cli_fail(code, "%s%s", err->msg, place);
}

/* ---- fault ------------------------------------------------------------------------------------------ */

enum { MAX_MAPS = 32, MAX_PATHS = 8 };

/* A handler reads these at any moment: `data` comes last and goes first. */
struct map {
    const char *_Atomic data; /* NULL: free */
    size_t size_bytes;
    char path[512]; /* ready to be printed */
};

static struct map maps[MAX_MAPS];
static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *_Atomic half_written[MAX_PATHS];
static volatile int stop_wanted;
static volatile sig_atomic_t stop_asks; /* SIGINT is a wish, not an end */
static pid_t owner;                     /* of the files that are half written; a child has none */

static void message_watch(const char *path, const void *data, size_t size_bytes)
{
    pthread_mutex_lock(&maps_lock);
    for (size_t i = 0; i < MAX_MAPS; i++) {
        struct map *m = &maps[i];
        const char *there = atomic_load(&m->data);
        if (there != (path ? NULL : data))
            continue;
        if (path) {
            m->size_bytes = size_bytes;
            snprintf(m->path, sizeof(m->path), "%s", path);
            oc_make_visible(m->path);
        }
        atomic_store(&m->data, path ? data : NULL);
        break;
    }
    pthread_mutex_unlock(&maps_lock);
}

/* ---- in handlers: nothing but what signal-safety(7) allows ------------------------------------------ */

/* Removes them, for those who end the program at once. Safe in handlers of signals. */
static void fault_clean_up(void)
{
    if (getpid() != owner)
        return;
    for (size_t i = 0; i < MAX_PATHS; i++) {
        const char *path = atomic_load(&half_written[i]);
        if (path)
            unlink(path);
    }
}

static const struct map *map_at(const char *address)
{
    for (size_t i = 0; i < MAX_MAPS; i++) {
        const char *data = atomic_load(&maps[i].data);
        if (data && address >= data && (size_t)(address - data) < maps[i].size_bytes)
            return &maps[i];
    }
    return NULL;
}

static size_t message_add(char *text, size_t at, const char *more)
{
    size_t n = strlen(more);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the text is written with its length */
    memcpy(text + at, more, n);
    return at + n;
}

/* The default action ends the program when the handler returns. */
static void die_of(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_end(int signal_number)
{
    if (signal_number == SIGINT && stop_asks && !stop_wanted && getpid() == owner) {
        stop_wanted = 1;
        return;
    }
    fault_clean_up();
    die_of(signal_number);
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    static const char before[] = "onnxcost: cannot read '";
    static const char behind[] = "': it was cut, or its disk failed, while it was read\n";
    char text[sizeof(before) + sizeof(maps[0].path) + sizeof(behind)];
    const struct map *m = map_at(info->si_addr);
    fault_clean_up();
    if (!m) {
        die_of(signal_number);
        return;
    }
    size_t n = message_add(text, message_add(text, message_add(text, 0, before), m->path), behind);
    _exit(write(STDERR_FILENO, text, n) < 0 ? CLI_ENVIRONMENT : CLI_INPUT);
}

/* ---- outside of them -------------------------------------------------------------------------------- */

static void put_path(const char *from, const char *to)
{
    for (size_t i = 0; i < MAX_PATHS; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&half_written[i], &expected, to))
            return;
    }
}

void cli_fault_remove(const char *path)
{
    put_path(NULL, path);
}

void cli_fault_forget(const char *path)
{
    put_path(path, NULL);
}

const volatile int *cli_fault_stop_begin(void)
{
    struct sigaction action = {.sa_handler = on_end};
    stop_wanted = 0;
    stop_asks = 1;
    sigaction(SIGINT, &action, NULL);
    return &stop_wanted;
}

void cli_fault_stop_over(void)
{
    stop_asks = 0;
}

void cli_fault_handle(void (*handler)(int), int flags)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        bool ignored = ends[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
        if (!ignored) /* nohup stays */
            sigaction(ends[i], &action, NULL);
    }
}

void cli_fault_install(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_end}, old;
    owner = getpid();
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup stays */
            sigaction(ends[i], &action, NULL);
    action = (struct sigaction){.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    oc_set_map_watch(message_watch);
}
