/* bisect and tune on simulated processes: the true times are known, processes differ by 1.5 %, machines drift, no clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/arena.h"
#include "onnxcost.h"
#include "trial/bisect.h"
#include "trial/tune.h"

struct simulation {
    const double *truth_ns;                         /* by variant, or ... */
    double (*truth_of)(const struct oc_variant *v); /* ... by its options */
    bool turns;
    int fails, disturbed; /* variant that cannot run; every n-th process is disturbed */
    uint64_t random;
    double clock_s;
    size_t n;
};

static double random_01(struct simulation *s)
{
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(s->random >> 11) / 9007199254740992.0;
}

/* Standard normal: the sum of twelve. */
static double random_normal(struct simulation *s)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_01(s);
    return sum;
}

static int simulate_one(struct oc_trials *t, uint32_t at, struct oc_trial *out, struct oc_err *err)
{
    struct simulation *s = t->arg;
    if ((int)at == s->fails) {
        snprintf(err->msg, sizeof(err->msg), "unsupported opset");
        return -1;
    }
    s->n++;
    s->clock_s += 1.3;
    double truth_ns = s->truth_ns ? s->truth_ns[at] : s->truth_of(&t->variant[at]);
    double drift = 0.03 * sin(s->clock_s / 40), ns = truth_ns * exp(drift + 0.015 * random_normal(s));
    *out = (struct oc_trial){.time = {.runs = 100,
                                      .typical_ns = ns,
                                      .spread = 0.02,
                                      .session_ns = 10 * ns,
                                      .first_run_ns = 2 * ns,
                                      .started_s = 1e9 + s->clock_s,
                                      .peak_bytes = 1000000},
                             .loaded = s->disturbed && s->n % (size_t)s->disturbed == 0};
    return 0;
}

/* With s->turns all of a round share a drift of 30 %, and differ by 1 %. */
static int simulate(struct oc_trials *t, const uint32_t *member, size_t n, struct oc_trial *out,
                    size_t *failed, struct oc_err *err)
{
    struct simulation *s = t->arg;
    double drift = s->turns ? 0.3 * random_normal(s) : 0;
    for (size_t i = 0; i < n; i++) {
        if (simulate_one(t, member[i], &out[i], err)) {
            *failed = i;
            return -1;
        }
        if (s->turns) {
            out[i].turns_id = (double)(s->n - i);
            out[i].time.typical_ns = s->truth_ns[member[i]] * exp(drift + 0.01 * random_normal(s));
        }
    }
    return 0;
}

/* ---- bisect -------------------------------------------------------------------------------------------- */

static struct oc_bisect *search(struct simulation *s, uint32_t n, bool all)
{
    struct oc_bisect *b = calloc(1, sizeof(*b));
    struct oc_err err;
    static char label[32][8];
    b->model_path = "net.onnx";
    b->library = calloc(n, sizeof(*b->library));
    oc_trials_begin(&b->trials, &b->arena, NULL, NULL);
    b->trials.run = simulate;
    b->trials.arg = s;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(label[i], sizeof(label[i]), "1.%u", i);
        snprintf(b->library[i].version, sizeof(b->library[i].version), "1.%u.0", i);
        oc_trials_add(&b->trials, label[i], &(struct oc_record_opts){0});
    }
    assert_int_equal(oc_bisect_search(b, all, &err), 0);
    return b;
}

static void one_change_is_found_with_few_versions(void **state)
{
    (void)state;
    double truth_ns[16];
    for (int i = 0; i < 16; i++)
        truth_ns[i] = i < 11 ? 1e6 : 1.2e6;
    struct simulation s = {.truth_ns = truth_ns, .fails = -1, .random = 1};
    struct oc_bisect *b = search(&s, 16, false);
    assert_int_equal(b->n_found, 1);
    const struct oc_bisect_step *f = &b->step[b->found[0]];
    assert_int_equal(f->from, 10);
    assert_int_equal(f->to, 11);
    assert_true(f->shown && f->confirms);
    assert_true(f->c.low < 1.2 && 1.2 < f->c.high);
    uint32_t measured = 0;
    for (int i = 0; i < 16; i++)
        measured += b->measured[i];
    assert_in_range(measured, 5, 6);              /* the ends and four or fewer between */
    assert_in_range(s.n, 6 + 4 * 9, 16 * 8 - 40); /* every version 8 times: 128 */
    oc_bisect_free(b);
}

static void two_changes_are_found(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6, 1.3e6, 1.3e6, 1.3e6, 1.3e6, 1.6e6, 1.6e6, 1.6e6};
    struct simulation s = {.truth_ns = truth_ns, .fails = -1, .random = 7};
    struct oc_bisect *b = search(&s, 9, false);
    assert_int_equal(b->n_found, 2);
    assert_int_equal(b->step[b->found[0]].to, 2);
    assert_int_equal(b->step[b->found[1]].to, 6);
    const char *from, *to;
    assert_true(oc_bisect_found(b, 1, &from, &to));
    assert_false(oc_bisect_found(b, 2, &from, &to));
    oc_bisect_free(b);
}

/* Of 200 searches without a change those that claim one: 5 % of the last looks and 1 % of the others. */
static void without_a_change_none_is_claimed(void **state)
{
    (void)state;
    double truth_ns[8];
    uint32_t claimed = 0, processes = 0;
    for (int i = 0; i < 8; i++)
        truth_ns[i] = 3e6;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct simulation s = {.truth_ns = truth_ns, .fails = -1, .random = seed};
        struct oc_bisect *b = search(&s, 8, false);
        const char *from, *to;
        claimed += oc_bisect_found(b, 0, &from, &to);
        processes += (uint32_t)s.n;
        oc_bisect_free(b);
    }
    assert_in_range(claimed, 0, 6);
    assert_in_range(processes / 200, 16, 20); /* two versions, eight times */
}

static void changes_are_found_by_their_size(void **state)
{
    (void)state;
    double truth_ns[10];
    uint32_t found = 0;
    for (int i = 0; i < 10; i++)
        truth_ns[i] = i < 4 ? 1e6 : 1.08e6;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct simulation s = {.truth_ns = truth_ns, .fails = -1, .random = seed};
        struct oc_bisect *b = search(&s, 10, false);
        found += b->n_found == 1 && b->step[b->found[0]].to == 4 && b->step[b->found[0]].shown;
        oc_bisect_free(b);
    }
    assert_in_range(found, 80, 100);
}

static void a_version_that_fails_is_left_out(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6, 1e6, 1e6, 1.5e6, 1.5e6};
    for (int fails = 0; fails < 6; fails++) {
        struct simulation s = {.truth_ns = truth_ns, .fails = fails, .random = 3};
        struct oc_bisect *b = search(&s, 6, false);
        assert_int_equal(b->n_found, 1);
        const struct oc_bisect_step *f = &b->step[b->found[0]];
        assert_true(f->from < 4 && f->to >= 4 && f->from != (uint32_t)fails && f->to != (uint32_t)fails);
        if (b->trials.variant[fails].failed)
            assert_string_equal(b->trials.variant[fails].failed, "unsupported opset");
        oc_bisect_free(b);
    }
}

static void every_version_is_measured_on_request(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6, 1.2e6, 1.2e6, 1.0e6, 1.0e6};
    struct simulation s = {.truth_ns = truth_ns, .fails = 3, .random = 5};
    struct oc_bisect *b = search(&s, 6, true);
    assert_int_equal(b->n_step, 4); /* neighbours among five versions */
    assert_int_equal(b->n_found, 2);
    assert_int_equal(b->step[b->found[0]].to, 2);
    assert_int_equal(b->step[b->found[1]].to, 4);
    oc_bisect_free(b);
}

static void disturbed_processes_are_repeated(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1.2e6};
    struct simulation s = {.truth_ns = truth_ns, .fails = -1, .disturbed = 4, .random = 5};
    struct oc_bisect *b = search(&s, 2, false);
    assert_true(b->trials.counts.repeated >= 1);
    assert_int_equal(b->n_found, 1);
    assert_int_equal(b->step[0].c.loaded, 0);
    oc_bisect_free(b);
}

/* Of processes that take turns those differences are shown that a drift of 30 % between the rounds hides otherwise. */
static void turns_show_what_drift_hides(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6, 1.05e6, 1.05e6};
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct simulation s = {
            .truth_ns = truth_ns, .turns = true, .fails = -1, .disturbed = 3, .random = seed};
        struct oc_bisect *b = search(&s, 4, false);
        found += b->n_found == 1 && b->step[b->found[0]].to == 2;
        assert_int_equal(b->trials.counts.repeated, 0); /* load reaches all */
        assert_int_equal(b->step[0].c.order, OC_RECORDED_TURNS);
        oc_bisect_free(b);
    }
    assert_in_range(found, 45, 50);
}

static void sessions_are_compared_too(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6, 1e6, 1.5e6};
    struct simulation s = {.truth_ns = truth_ns, .fails = -1, .random = 9};
    struct oc_bisect *b = calloc(1, sizeof(*b));
    struct oc_err err;
    b->figure = OC_TRIAL_SESSION;
    b->library = calloc(4, sizeof(*b->library));
    oc_trials_begin(&b->trials, &b->arena, NULL, NULL);
    b->trials.run = simulate;
    b->trials.arg = &s;
    for (int i = 0; i < 4; i++)
        oc_trials_add(&b->trials, "v", &(struct oc_record_opts){0});
    assert_int_equal(oc_bisect_search(b, false, &err), 0);
    assert_int_equal(b->n_found, 1);
    assert_int_equal(b->step[b->found[0]].to, 3);
    oc_bisect_free(b);
}

static void one_version_is_not_enough(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6};
    struct simulation s = {.truth_ns = truth_ns, .fails = 1};
    struct oc_bisect *b = calloc(1, sizeof(*b));
    struct oc_err err;
    b->model_path = "net.onnx";
    oc_trials_begin(&b->trials, &b->arena, NULL, NULL);
    b->trials.run = simulate;
    b->trials.arg = &s;
    oc_trials_add(&b->trials, "1.1", &(struct oc_record_opts){0});
    oc_trials_add(&b->trials, "1.2", &(struct oc_record_opts){0});
    assert_int_equal(oc_bisect_search(b, false, &err), -1);
    assert_non_null(strstr(err.msg, "fewer than two versions can run 'net.onnx': 1.2: unsupported opset"));
    oc_bisect_free(b);
}

/* ---- tune ---------------------------------------------------------------------------------------------- */

static bool has_entry(const struct oc_variant *v, const char *entry)
{
    for (size_t i = 0; i < v->opts.n_session_config; i++)
        if (!strcmp(v->opts.session_config[i], entry))
            return true;
    return false;
}

/* Without spinning 20 % faster, without the pattern of memory another 15 %; everything else is slower. */
static double two_that_help(const struct oc_variant *v)
{
    double ns = 5e6;
    ns *= has_entry(v, "session.intra_op.allow_spinning=0") ? 0.8 : 1;
    ns *= has_entry(v, "enable_mem_pattern=0") ? 0.85 : 1;
    ns *= has_entry(v, "execution_mode=parallel") || has_entry(v, "enable_cpu_mem_arena=0") ? 1.3 : 1;
    ns *= v->opts.level || v->opts.provider ? 1.2 : 1;
    return ns * (v->opts.threads ? 1.5 : 1);
}

/* Two entries of the configuration that help. */
static double two_entries_help(const struct oc_variant *v)
{
    double ns = v->opts.level || v->opts.threads || v->opts.provider ? 8e6 : 5e6;
    ns *= has_entry(v, "session.intra_op.allow_spinning=0") ? 0.8 : 1;
    ns *= has_entry(v, "session.disable_prepacking=1") ? 0.8 : 1;
    return ns * (has_entry(v, "session.dynamic_block_base=4") ? 1.2 : 1);
}

static double nothing_helps(const struct oc_variant *v)
{
    return v->opts.level ? 6e6 : 5e6;
}

static struct oc_tune *tune(struct simulation *s, const struct oc_record_opts *given)
{
    struct oc_tune *t = calloc(1, sizeof(*t));
    struct oc_err err;
    t->providers = "CUDAExecutionProvider CPUExecutionProvider";
    oc_trials_begin(&t->trials, &t->arena, NULL, NULL);
    t->trials.run = simulate;
    t->trials.arg = s;
    assert_int_equal(oc_tune_search(t, given, &err), 0);
    return t;
}

static void settings_that_help_are_joined(void **state)
{
    (void)state;
    struct simulation s = {.truth_of = two_that_help, .fails = -1, .random = 2};
    struct oc_tune *t = tune(&s, &(struct oc_record_opts){0});
    assert_non_null(t->best);
    assert_int_equal(t->best->n_setting, 2);
    assert_string_equal(t->best->setting[0]->key, "session.intra_op.allow_spinning");
    assert_string_equal(t->best->setting[1]->python, "options.enable_mem_pattern = False");
    assert_true(t->best->c.low < 0.68 && 0.68 < t->best->c.high);
    assert_true(t->best->shown);
    for (uint32_t i = 1; i < t->n_row; i++)
        assert_true(t->row[i].stage <= t->row[i - 1].stage);
    oc_tune_free(t);
}

static char *written(int (*write)(const void *of, FILE *f, struct oc_err *err), const void *of)
{
    char *text = NULL;
    size_t n;
    struct oc_err err;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(write(of, f, &err), 0);
    fclose(f);
    return text;
}

static int write_tune(const void *of, FILE *f, struct oc_err *err)
{
    return oc_tune_write(of, "table", 80, f, err);
}

static int write_bisect(const void *of, FILE *f, struct oc_err *err)
{
    return oc_bisect_write(of, "table", 80, f, err);
}

/* A second "extra" in the options would replace the first. */
static void entries_are_one_member_in_javascript(void **state)
{
    (void)state;
    struct simulation s = {.truth_of = two_entries_help, .fails = -1, .random = 2};
    struct oc_tune *t = tune(&s, &(struct oc_record_opts){0});
    t->model_path = "net.onnx";
    assert_int_equal(t->best->n_setting, 2);
    char *text = written(write_tune, t);
    assert_non_null(strstr(
        text, "\nJavaScript  extra: { session: { intra_op: { allow_spinning: '0' }, disable_prepacking: "
              "'1' } } /* onnxruntime-web */\n\n"));
    assert_non_null(strstr(
        text, "\nPython      options.add_session_config_entry(\"session.intra_op.allow_spinning\", \"0\")\n"
              "            options.add_session_config_entry(\"session.disable_prepacking\", \"1\")\n"));
    free(text);
    oc_tune_free(t);
}

static void without_a_change_the_smallest_one_is_named(void **state)
{
    (void)state;
    const double truth_ns[] = {1e6, 1e6, 1e6, 1e6};
    struct simulation s = {.truth_ns = truth_ns, .fails = -1, .random = 11};
    for (int all = 0; all < 2; all++) {
        struct oc_bisect *b = search(&s, 4, all);
        char *text = written(write_bisect, b);
        const char *wanted =
            all ? "no change between neighbours is shown; from " : "no change is shown: 1.0.0 -> 1.3.0: no";
        assert_non_null(strstr(text, wanted));
        free(text);
        oc_bisect_free(b);
    }
}

static void nothing_better_is_an_answer(void **state)
{
    (void)state;
    uint32_t claimed = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct simulation s = {.truth_of = nothing_helps, .fails = -1, .random = seed};
        struct oc_tune *t = tune(&s, &(struct oc_record_opts){0});
        claimed += t->best != NULL;
        oc_tune_free(t);
    }
    assert_in_range(claimed, 0, 5);
}

static void what_is_given_is_not_varied(void **state)
{
    (void)state;
    const char *const entry[] = {"session.intra_op.allow_spinning=0"};
    struct simulation s = {.truth_of = two_that_help, .fails = -1, .random = 4};
    struct oc_tune *t =
        tune(&s, &(struct oc_record_opts){
                     .threads = 3, .level = "basic", .session_config = entry, .n_session_config = 1});
    for (uint32_t i = 0; i < t->n_row; i++)
        for (uint32_t k = 0; k < t->row[i].n_setting; k++) {
            assert_string_not_equal(t->row[i].setting[k]->key, "threads");
            assert_string_not_equal(t->row[i].setting[k]->key, "level");
            assert_string_not_equal(t->row[i].setting[k]->key, "session.intra_op.allow_spinning");
        }
    for (uint32_t i = 0; i < t->trials.n; i++) {
        assert_int_equal(t->trials.variant[i].opts.threads, 3);
        assert_true(has_entry(&t->trials.variant[i], entry[0]));
    }
    assert_string_equal(t->best->setting[0]->text, "--session-config enable_mem_pattern=0");
    oc_tune_free(t);
}

static void providers_of_the_library_are_tried(void **state)
{
    (void)state;
    struct simulation s = {.truth_of = two_that_help, .fails = -1, .random = 8};
    struct oc_tune *t = tune(&s, &(struct oc_record_opts){0});
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_row; i++)
        if (!strcmp(t->row[i].setting[0]->text, "--provider CUDAExecutionProvider")) {
            n++;
            assert_string_equal(t->trials.variant[t->row[i].variant].opts.provider, "CUDAExecutionProvider");
        }
    assert_int_equal(n, 1);
    oc_tune_free(t);
}

static void a_setting_that_fails_is_named(void **state)
{
    (void)state;
    struct simulation s = {.truth_of = nothing_helps, .fails = 3, .random = 6};
    struct oc_tune *t = tune(&s, &(struct oc_record_opts){0});
    assert_string_equal(t->trials.variant[3].failed, "unsupported opset");
    assert_int_equal(t->row[t->n_row - 1].variant, 3); /* after all that were measured */
    oc_tune_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_change_is_found_with_few_versions),
        cmocka_unit_test(two_changes_are_found),
        cmocka_unit_test(without_a_change_none_is_claimed),
        cmocka_unit_test(changes_are_found_by_their_size),
        cmocka_unit_test(a_version_that_fails_is_left_out),
        cmocka_unit_test(every_version_is_measured_on_request),
        cmocka_unit_test(disturbed_processes_are_repeated),
        cmocka_unit_test(turns_show_what_drift_hides),
        cmocka_unit_test(sessions_are_compared_too),
        cmocka_unit_test(one_version_is_not_enough),
        cmocka_unit_test(settings_that_help_are_joined),
        cmocka_unit_test(entries_are_one_member_in_javascript),
        cmocka_unit_test(without_a_change_the_smallest_one_is_named),
        cmocka_unit_test(nothing_better_is_an_answer),
        cmocka_unit_test(what_is_given_is_not_varied),
        cmocka_unit_test(providers_of_the_library_are_tried),
        cmocka_unit_test(a_setting_that_fails_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
