/* Which files the command reads, so that no output replaces one of them. The library reports every file that it
 * opens or that a model refers to; files are compared by device and inode, so that links do not matter. Workers of
 * a scan read in processes of their own: they mark the targets, which are in shared memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#include <sys/mman.h>
#endif

#include "cli/output.h"

enum { MAX_TARGETS = 8 };

struct identity {
    dev_t dev;
    ino_t ino;
};

struct target {
    struct identity is;
    atomic_bool used, read;
};

static pthread_mutex_t inputs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct identity *inputs;
static size_t n_input, cap_input;
static pid_t owner; /* of the list; a worker needs none */
static struct target own_targets[MAX_TARGETS], *targets = own_targets;

static bool same(struct identity a, struct identity b)
{
    return a.dev == b.dev && a.ino == b.ino;
}

void cli_input_note(const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return;
    struct identity is = {st.st_dev, st.st_ino};
    for (size_t i = 0; i < MAX_TARGETS; i++)
        if (atomic_load(&targets[i].used) && same(targets[i].is, is))
            atomic_store(&targets[i].read, true);
    if (getpid() != owner)
        return;
    pthread_mutex_lock(&inputs_lock);
    if (n_input == cap_input) {
        cap_input = cap_input ? 2 * cap_input : 64;
        inputs = cli_xrealloc(inputs, cap_input * sizeof(*inputs));
    }
    inputs[n_input++] = is;
    pthread_mutex_unlock(&inputs_lock);
}

void cli_input_forget(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return;
    struct identity is = {st.st_dev, st.st_ino};
    for (size_t i = 0; i < MAX_TARGETS; i++)
        if (same(targets[i].is, is))
            atomic_store(&targets[i].read, false);
    pthread_mutex_lock(&inputs_lock);
    for (size_t i = 0; i < n_input;)
        if (same(inputs[i], is))
            inputs[i] = inputs[--n_input];
        else
            i++;
    pthread_mutex_unlock(&inputs_lock);
}

void cli_inputs_install(void)
{
    owner = getpid();
#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
    void *shared = mmap(NULL, sizeof(own_targets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED)
        targets = shared;
#endif
    oc_set_read_watch(cli_input_note);
}

void cli_target_watch(const struct stat *st)
{
    for (size_t i = 0; i < MAX_TARGETS; i++)
        if (!atomic_load(&targets[i].used)) {
            targets[i].is = (struct identity){st->st_dev, st->st_ino};
            atomic_store(&targets[i].read, false);
            atomic_store(&targets[i].used, true);
            return;
        }
}

bool cli_is_input(const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    struct identity is = {st.st_dev, st.st_ino};
    bool found = false;
    for (size_t i = 0; i < MAX_TARGETS; i++)
        found |= atomic_load(&targets[i].used) && same(targets[i].is, is) && atomic_load(&targets[i].read);
    pthread_mutex_lock(&inputs_lock);
    for (size_t i = 0; i < n_input && !found; i++)
        found = same(inputs[i], is);
    pthread_mutex_unlock(&inputs_lock);
    return found;
}
