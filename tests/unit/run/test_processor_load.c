/* What limits the clock of the processors: files of Linux, imitated in a folder. */
#include "run/record_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/onnxcost-cpu-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

static void nothing_is_known_without_files(void **state)
{
    (void)state;
    char text[96] = "x";
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "");
    assert_true(oc_times_throttled(folder) == 0);
}

static void limits_are_named(void **state)
{
    (void)state;
    char text[96];
    put("cpu0/cpufreq/scaling_max_freq", "2000000\n");
    put("cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    put("cpu0/cpufreq/scaling_governor", "powersave\n");
    put("cpufreq/boost", "0\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "clock limited to 2.00 of 3.50 GHz; governor powersave; turbo is off");
}

static void what_is_not_limited_is_not_named(void **state)
{
    (void)state;
    char text[96] = "x";
    put("cpu0/cpufreq/scaling_max_freq", "3500000\n");
    put("cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
    put("cpu0/cpufreq/scaling_governor", "performance\n");
    put("intel_pstate/no_turbo", "0\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "");
    put("intel_pstate/no_turbo", "1\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_string_equal(text, "turbo is off");
}

static void throttling_is_summed(void **state)
{
    (void)state;
    put("cpu0/thermal_throttle/core_throttle_count", "3\n");
    put("cpu7/thermal_throttle/core_throttle_count", "4\n");
    put("cpu8/thermal_throttle/core_throttle_count", "words\n");
    assert_true(oc_times_throttled(folder) == 7);
}

static void long_words_are_cut(void **state)
{
    (void)state;
    char text[96];
    put("cpu0/cpufreq/scaling_max_freq", "1\n");
    put("cpu0/cpufreq/cpuinfo_max_freq", "9000000\n");
    put("cpu0/cpufreq/scaling_governor", "a_governor_whose_name_is_very_long_and_goes_on_and_on\n");
    oc_clock_limits(folder, text, sizeof(text));
    assert_true(strlen(text) < sizeof(text));
    assert_non_null(strstr(text, "governor a_governor_whose_nam"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_known_without_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(limits_are_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_limited_is_not_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(throttling_is_summed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(long_words_are_cut, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
