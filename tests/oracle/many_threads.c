/* Threads with their own handles, and threads that share read-only handles: the reports are equal, byte
 * for byte, to those of one thread alone. Under ThreadSanitizer the program also detects data races.
 *   many_threads MODEL PROFILE [MODEL PROFILE]... [-- PROFILE...]      after "--": summaries of profiles
 * With ONNXCOST_REPORTS=FILE it writes the reports there and uses no threads. The locale is that of the
 * environment. */
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

enum { THREADS = 4, MAX_JOBS = 16 };

struct job {
    const char *model_path, *profile_path; /* model_path NULL: a summary */
    const struct oc_model *model;          /* shared by the threads that do not load their own */
    const struct oc_profile *profile;
};

struct text {
    char *s;
    size_t bytes;
};

struct work {
    const struct job *job;
    size_t n_job;
    bool shared;
    struct text text[MAX_JOBS]; /* the output of the jobs */
};

static const char *const formats[] = {"table", "csv", "json", "markdown", "html"};
enum { SUMMARY_FORMATS = 3 };

static void stop(const struct oc_err *err)
{
    printf("# %s\n", err->msg);
    exit(1);
}

static void reports(const struct oc_model *model, const struct oc_profile *profile,
                    const struct oc_device *device, FILE *f)
{
    struct oc_err err;
    struct oc_shape_bind *shape;
    struct oc_analyze_opts opts = {.n_shape = oc_profile_input_shapes(model, profile, &shape)};
    opts.shape = shape;
    struct oc_analysis *analysis;
    struct oc_join *join;
    if (oc_analyze(model, &opts, &analysis, &err) ||
        oc_join_make(model, analysis, profile, NULL, &join, &err))
        stop(&err);
    const struct oc_report_in in = {model, analysis, profile, join, device};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        /* a pattern, so that PCRE2 is used too */
        const struct oc_report_opts how = {
            .format = formats[i], .name_pattern = (const char *const[]){".*[a-z]"}, .n_name_pattern = 1};
        if (oc_report_write(&in, &how, f, &err))
            stop(&err);
    }
    oc_join_free(join);
    oc_analysis_free(analysis);
    oc_profile_input_shapes_free(shape, opts.n_shape);
}

static void summary(const char *path, FILE *f)
{
    struct oc_err err;
    struct oc_profile *profile;
    const struct oc_profile_opts how = {.keep_events = true};
    if (oc_profile_open(path, &how, &profile, &err))
        stop(&err);
    const struct oc_profile *const all[] = {profile};
    for (size_t i = 0; i < SUMMARY_FORMATS; i++) {
        const struct oc_summary_opts opts = {.format = formats[i]};
        if (oc_summary_write(all, 1, &opts, f, &err))
            stop(&err);
    }
    oc_profile_close(profile);
}

/* The output of the job, in memory that the caller frees. */
static struct text run(const struct job *job, bool shared)
{
    struct text text = {0};
    struct oc_err err;
    FILE *f = open_memstream(&text.s, &text.bytes);
    if (!f)
        exit(1);
    if (!job->model_path) {
        summary(job->profile_path, f);
        fclose(f);
        return text;
    }
    struct oc_hwdb *db;
    const struct oc_device *device;
    if (oc_hwdb_open(NULL, &db, &err) || oc_hwdb_find(db, "a100", &device, &err))
        stop(&err);
    struct oc_model *model = NULL;
    struct oc_profile *profile = NULL;
    const struct oc_profile_opts how = {0};
    if (!shared && (oc_model_load(job->model_path, NULL, &model, &err) ||
                    oc_profile_open(job->profile_path, &how, &profile, &err)))
        stop(&err);
    reports(shared ? job->model : model, shared ? job->profile : profile, device, f);
    oc_profile_close(profile);
    oc_model_free(model);
    oc_hwdb_free(db);
    fclose(f);
    return text;
}

static void *work(void *arg)
{
    struct work *w = arg;
    for (size_t i = 0; i < w->n_job; i++)
        w->text[i] = run(&w->job[i], w->shared);
    return NULL;
}

static void in_threads(const struct job *job, size_t n, bool shared, struct work w[THREADS])
{
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        w[i] = (struct work){.job = job, .n_job = n, .shared = shared};
        if (pthread_create(&thread[i], NULL, work, &w[i]))
            exit(1);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static int compare(struct work w[THREADS], const struct work *want, const char *title, int number)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < THREADS; i++)
        for (size_t k = 0; k < want->n_job; k++) {
            const struct text *a = &w[i].text[k], *b = &want->text[k];
            if (!b->bytes || a->bytes != b->bytes || memcmp(a->s, b->s, a->bytes) != 0)
                wrong = want->job[k].profile_path;
            free(a->s);
        }
    printf("%sok %d - %s%s%s\n", wrong ? "not " : "", number, title, wrong ? ": " : "", wrong ? wrong : "");
    return wrong ? 1 : 0;
}

static int write_reports(struct work *w, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    work(w);
    for (size_t i = 0; i < w->n_job; i++) {
        fwrite(w->text[i].s, 1, w->text[i].bytes, f);
        free(w->text[i].s);
    }
    return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    struct job job[MAX_JOBS] = {0};
    size_t n = 0;
    struct oc_err err;
    const struct oc_profile_opts how = {0};
    int i = 1;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0 && n < MAX_JOBS; i += 2)
        job[n++] = (struct job){.model_path = argv[i], .profile_path = argv[i + 1]};
    for (i++; i < argc && n < MAX_JOBS; i++)
        job[n++] = (struct job){.profile_path = argv[i]};
    struct work alone = {.job = job, .n_job = n};
    const char *file = getenv("ONNXCOST_REPORTS");
    if (file)
        return write_reports(&alone, file);
    /* threads first: one-time initialization then runs in several threads at once */
    struct work own[THREADS], shared[THREADS];
    in_threads(job, n, false, own);
    work(&alone);
    struct oc_model *model[MAX_JOBS] = {0};
    struct oc_profile *profile[MAX_JOBS] = {0};
    for (size_t k = 0; k < n && job[k].model_path; k++) {
        if (oc_model_load(job[k].model_path, NULL, &model[k], &err) ||
            oc_profile_open(job[k].profile_path, &how, &profile[k], &err))
            stop(&err);
        job[k].model = model[k];
        job[k].profile = profile[k];
    }
    in_threads(job, n, true, shared);
    int bad = compare(own, &alone, "threads with their own handles", 1);
    bad |= compare(shared, &alone, "threads that share models and profiles", 2);
    for (size_t k = 0; k < n; k++) {
        oc_profile_close(profile[k]);
        oc_model_free(model[k]);
        free(alone.text[k].s);
    }
    printf("1..2\n");
    return bad;
}
