#include "cli/progress.h"
#include "cli/xmem.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "onnxcost.h"

struct cli_progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    char text[160];
};

static void *watch(void *arg)
{
    struct cli_progress *p = arg;
    bool shown = false;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&p->lock);
    while (!p->done) {
        next.tv_sec++;
        while (!p->done && !pthread_cond_timedwait(&p->changed, &p->lock, &next))
            ;
        if (p->done)
            break;
        fprintf(stderr, "\r\033[K%s ...", p->text);
        fflush(stderr);
        shown = true;
    }
    pthread_mutex_unlock(&p->lock);
    if (shown)
        fputs("\r\033[K", stderr);
    return NULL;
}

struct cli_progress *cli_progress_start(void)
{
    if (!isatty(STDERR_FILENO))
        return NULL;
    struct cli_progress *p = cli_xcalloc(1, sizeof(*p));
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (!pthread_create(&p->thread, NULL, watch, p))
        return p;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

void cli_progress_say(struct cli_progress *p, const char *what, const char *path)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    snprintf(p->text, sizeof(p->text), "%s %s", what, path);
    oc_make_visible(p->text);
    pthread_mutex_unlock(&p->lock);
}

void cli_progress_stop(struct cli_progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->done = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
