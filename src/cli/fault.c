#include "cli/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

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

static void watch(const char *path, const void *data, size_t size_bytes)
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

/* ---- in handlers: nothing but what signal-safety(7) allows
 * -------------------------------------------------
 */

void cli_fault_clean_up(void)
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

static size_t add(char *text, size_t at, const char *more)
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
    cli_fault_clean_up();
    die_of(signal_number);
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    static const char before[] = "onnxcost: cannot read '";
    static const char behind[] = "': it was cut, or its disk failed, while it was read\n";
    char text[sizeof(before) + sizeof(maps[0].path) + sizeof(behind)];
    const struct map *m = map_at(info->si_addr);
    cli_fault_clean_up();
    if (!m) {
        die_of(signal_number);
        return;
    }
    size_t n = add(text, add(text, add(text, 0, before), m->path), behind);
    _exit(write(STDERR_FILENO, text, n) < 0 ? CLI_ENVIRONMENT : CLI_INPUT);
}

/* ---- outside of them --------------------------------------------------------------------------------------
 */

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
    oc_set_map_watch(watch);
}
