/* Cleanup of a program ended by a signal: a child process installs the handlers, has a partial output file,
 * maps another file and truncates it before reading. */
#include "cli/message.c" /* a program, not a library */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"

enum { PAGES = 4 };

static char folder[] = "/tmp/oc_fault_XXXXXX";
static char input[64], output[64], messages[64];

static void write_file(const char *path, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n; i++)
        putc('x', f);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(input, sizeof(input), "%s/in\033[2J", folder);
    snprintf(output, sizeof(output), "%s/out", folder);
    snprintf(messages, sizeof(messages), "%s/err", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(input);
    unlink(output);
    unlink(messages);
    return rmdir(folder);
}

/* Runs `act` in a child; returns its wait status, its standard error in `message`. */
static int run_child(void (*act)(void), char *said, size_t cap)
{
    write_file(input, (size_t)PAGES * (size_t)sysconf(_SC_PAGESIZE));
    write_file(output, 3);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        if (!freopen(messages, "w", stderr))
            _exit(90);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_IGN);
        cli_fault_install();
        cli_fault_remove(output);
        act();
        _exit(91);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    FILE *f = fopen(messages, "rb");
    assert_non_null(f);
    said[fread(said, 1, cap - 1, f)] = '\0';
    fclose(f);
    return status;
}

static struct oc_file map_input(void)
{
    struct oc_file f;
    struct oc_err err;
    if (oc_file_map(input, 0, &f, &err))
        _exit(92);
    return f;
}

static void cut_and_read(void)
{
    struct oc_file f = map_input();
    if (truncate(input, 1))
        _exit(93);
    volatile uint8_t last = f.data[f.size_bytes - 1];
    (void)last;
}

static void truncated_input_is_named(void **state)
{
    (void)state;
    char said[1024], want[256];
    int status = run_child(cut_and_read, said, sizeof(said));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), CLI_INPUT);
    snprintf(want, sizeof(want),
             "onnxcost: cannot read '%s/in?[2J': it was cut, or its disk failed, while it was read\n",
             folder);
    assert_string_equal(said, want);
    assert_int_equal(access(output, F_OK), -1);
}

/* An unmapped range is no longer watched: a fault in a later mapping is not reported as a file. */
static void read_another_map(void)
{
    struct oc_file f = map_input();
    size_t n = (size_t)f.size_bytes;
    oc_file_unmap(&f);
    FILE *other = fopen(input, "rb");
    const volatile char *p = other ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fileno(other), 0) : MAP_FAILED;
    if (p == MAP_FAILED || truncate(input, 0))
        _exit(94);
    (void)p[n - 1];
}

static void other_bus_error_keeps_its_signal(void **state)
{
    (void)state;
    char said[1024];
    int status = run_child(read_another_map, said, sizeof(said));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
    assert_null(strstr(said, "cannot read"));
    assert_int_equal(access(output, F_OK), -1);
}

static void end(void)
{
    raise(SIGHUP); /* ignored before, as with nohup */
    raise(SIGTERM);
}

static void partial_output_is_removed(void **state)
{
    (void)state;
    char said[256];
    int status = run_child(end, said, sizeof(said));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_int_equal(access(output, F_OK), -1);
}

static void end_in_a_child(void)
{
    pid_t pid = fork();
    if (!pid)
        raise(SIGTERM);
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
        _exit(95);
    _exit(0);
}

static void child_process_removes_nothing(void **state)
{
    (void)state;
    char said[256];
    int status = run_child(end_in_a_child, said, sizeof(said));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(access(output, F_OK), 0);
}

static void finish_and_end(void)
{
    cli_fault_forget(output);
    raise(SIGTERM);
}

static void complete_output_remains(void **state)
{
    (void)state;
    char said[256];
    int status = run_child(finish_and_end, said, sizeof(said));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(access(output, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_input_is_named),  cmocka_unit_test(other_bus_error_keeps_its_signal),
        cmocka_unit_test(partial_output_is_removed), cmocka_unit_test(child_process_removes_nothing),
        cmocka_unit_test(complete_output_remains),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
