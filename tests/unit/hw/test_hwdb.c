#include "onnxcost.h"
#include "onnxcost/hardware.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/onnxcost-hwdb-XXXXXX";

static void path_in(char *out, size_t cap, const char *name)
{
    snprintf(out, cap, "%s/%s", root, name);
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    path_in(path, sizeof(path), name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

#define DEVICE(id, name, more)                                                                               \
    "<device id=\"" id "\" name=\"" name "\" vendor=\"V\" kind=\"cpu\">" more                                \
    "<unit kind=\"vector\" name=\"u\"><peak class=\"f32\" value=\"1\" unit=\"TFLOP/s\" dense=\"yes\" "       \
    "clock=\"base\" basis=\"vendor\" source=\"s\"/></unit></device>"
#define HWDB(devices) "<hwdb version=\"1\"><source id=\"s\" title=\"S\"/>" devices "</hwdb>"

static int make_folders(void **state)
{
    (void)state;
    static const char *const sub[] = {"one", "two", "bad", "twice", "none", "many", "empty", "quoted"};
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < sizeof(sub) / sizeof(sub[0]); i++) {
        char path[256], command[300];
        path_in(path, sizeof(path), sub[i]);
        snprintf(command, sizeof(command), "mkdir '%s'", path);
        assert_int_equal(system(command), 0);
    }
    write_file("one/a.xml", HWDB(DEVICE("alpha-100", "first", "<alias name=\"Big Alpha\"/>")));
    write_file("one/b.xml", HWDB(DEVICE("beta", "b", "") DEVICE("gamma", "g", "")));
    write_file("one/notes.txt", "not a hardware file");
    write_file("two/a.xml", HWDB(DEVICE("alpha-100", "second", "") DEVICE("delta", "d", "")));
    write_file("bad/a.xml", HWDB(DEVICE("fine", "f", "")));
    write_file("bad/b.xml", "<hwdb version=\"1\">");
    write_file("twice/a.xml", HWDB(DEVICE("same", "1", "")));
    write_file("empty/a.xml", HWDB(""));
    write_file("quoted/a.xml", "<hwdb version=\"1\"> single, 1");
    write_file("quoted/b.xml", HWDB(DEVICE("r-and-d", "R&amp;D &#49;", "<alias name='Single'/>")));
    for (int i = 0; i <= 1000; i++) {
        char name[40];
        snprintf(name, sizeof(name), "many/%d.xml", i);
        write_file(name, "");
    }
    write_file("twice/b.xml", HWDB(DEVICE("other", "2", "<alias name=\"SAME\"/>")));
    return 0;
}

static int remove_folders(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

static struct oc_hwdb *open_folder(const char *name)
{
    char path[256];
    struct oc_hwdb *db = NULL;
    struct oc_err err = {0};
    path_in(path, sizeof(path), name);
    if (oc_hwdb_open(path, &db, &err))
        fail_msg("%s", err.msg);
    return db;
}

static const struct oc_device *find(struct oc_hwdb *db, const char *name)
{
    const struct oc_device *d = NULL;
    struct oc_err err = {0};
    if (oc_hwdb_get(db, name, &d, &err))
        fail_msg("%s", err.msg);
    return d;
}

static void expect_error(int rc, const struct oc_err *err, enum oc_code code, const char *text)
{
    assert_int_equal(rc, -1);
    if (err->code != code || !strstr(err->msg, text))
        fail_msg("code %d: %s", (int)err->code, err->msg);
}

/* libxml2 is large and slow to load: it must not be loaded before a file is read. Runs first. */
static void xml_library_is_loaded_on_demand(void **state)
{
    (void)state;
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r");
    if (!f)
        skip();
    bool loaded = false;
    while (fgets(line, sizeof(line), f))
        loaded |= strstr(line, "libxml2") != NULL;
    fclose(f);
    assert_false(loaded);
}

static void devices_are_found_by_name_and_alias(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("one");
    const struct oc_device *d = find(db, "alpha-100");
    assert_string_equal(oc_device_info(d)->name, "first");
    assert_ptr_equal(find(db, "ALPHA_100"), d);
    assert_ptr_equal(find(db, "big alpha"), d);
    assert_ptr_equal(find(db, "Big-Alpha"), d);
    assert_string_equal(oc_device_info(find(db, "gamma"))->id, "gamma");
    assert_ptr_equal(find(db, "first"), d); /* the name that profiles record */
    oc_hwdb_free(db);
}

static void unknown_device_lists_near_names(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("one");
    const struct oc_device *d;
    struct oc_err err = {0};
    expect_error(oc_hwdb_find(db, "alpha", &d, &err), &err, OC_ENOTFOUND,
                 "unknown device 'alpha'; did you mean 'alpha-100'");
    expect_error(oc_hwdb_find(db, "betta", &d, &err), &err, OC_ENOTFOUND, "; did you mean 'beta'");
    expect_error(oc_hwdb_find(db, "zzzzzz", &d, &err), &err, OC_ENOTFOUND,
                 "unknown device 'zzzzzz'; valid: alpha-100");
    assert_null(strstr(err.msg, "did you mean"));
    expect_error(oc_hwdb_find(db, "", &d, &err), &err, OC_ENOTFOUND, "unknown device ''");
    assert_null(d);
    oc_hwdb_free(db);
    db = open_folder("none");
    expect_error(oc_hwdb_find(db, "beta", &d, &err), &err, OC_ENOTFOUND, "no hardware files found");
    oc_hwdb_free(db);
}

static void broken_file_is_an_error_only_when_read(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("bad");
    const struct oc_device *d;
    const struct oc_device *const *list;
    size_t n;
    struct oc_err err = {0};
    assert_string_equal(oc_device_info(find(db, "fine"))->id, "fine");
    expect_error(oc_hwdb_find(db, "else", &d, &err), &err, OC_EFORMAT, "not well-formed");
    expect_error(oc_hwdb_list(db, &list, &n, &err), &err, OC_EFORMAT, "b.xml': line 1: not well-formed");
    oc_hwdb_free(db);
}

/* The broken file has the text of the names, but not as an attribute. */
static void only_files_with_the_name_are_read(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("quoted");
    const struct oc_device *d;
    assert_string_equal(oc_device_info(find(db, "single"))->id, "r-and-d");
    assert_string_equal(oc_device_info(find(db, "R&D 1"))->id, "r-and-d");
    assert_int_equal(oc_hwdb_find(db, "1", &d, NULL), -1);
    assert_null(d);
    oc_hwdb_free(db);
    db = open_folder("quoted");
    assert_string_equal(oc_device_info(find(db, "r&d-1"))->id, "r-and-d");
    oc_hwdb_free(db);
}

static void duplicate_names_in_a_folder_are_an_error(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("twice");
    const struct oc_device *const *list;
    size_t n;
    struct oc_err err = {0};
    expect_error(oc_hwdb_list(db, &list, &n, &err), &err, OC_EFORMAT, "name 'SAME' is also in");
    oc_hwdb_free(db);
}

static void earlier_folders_take_precedence(void **state)
{
    (void)state;
    char one[256], path[600];
    struct oc_hwdb *db;
    struct oc_err err = {0};
    const struct oc_device *const *list;
    size_t n;
    path_in(one, sizeof(one), "one");
    snprintf(path, sizeof(path), "%s:%s/two:%s", one, root, one);
    assert_int_equal(setenv("ONNXCOST_HWDB", path, 1), 0);
    assert_int_equal(oc_hwdb_open(NULL, &db, &err), 0);
    assert_string_equal(oc_device_info(find(db, "alpha-100"))->name, "first");
    assert_string_equal(oc_device_info(find(db, "delta"))->name, "d");
    if (oc_hwdb_list(db, &list, &n, &err))
        fail_msg("%s", err.msg);
    size_t alpha = 0;
    for (size_t i = 0; i < n; i++)
        alpha += strcmp(oc_device_info(list[i])->id, "alpha-100") == 0;
    assert_int_equal(alpha, 1);
    assert_true(n >= 4); /* and the devices of the checkout */
    oc_hwdb_free(db);
    assert_int_equal(setenv("ONNXCOST_HWDB", "/nonexistent/hwdb", 1), 0);
    expect_error(oc_hwdb_open(NULL, &db, &err), &err, OC_EIO,
                 "ONNXCOST_HWDB: cannot read the hardware folder '/nonexistent/hwdb'");
    assert_null(db);
    assert_int_equal(unsetenv("ONNXCOST_HWDB"), 0);
}

static void device_files_are_read_by_path(void **state)
{
    (void)state;
    char path[256], with_id[300];
    struct oc_hwdb *db = open_folder("none");
    const struct oc_device *d;
    struct oc_err err = {0};
    path_in(path, sizeof(path), "one/a.xml");
    assert_string_equal(oc_device_info(find(db, path))->id, "alpha-100");
    path_in(path, sizeof(path), "one/b.xml");
    expect_error(oc_hwdb_get(db, path, &d, &err), &err, OC_EARG, "has 2 devices: select one with");
    snprintf(with_id, sizeof(with_id), "%s#Gamma", path);
    assert_string_equal(oc_device_info(find(db, with_id))->id, "gamma");
    snprintf(with_id, sizeof(with_id), "%s#gama", path);
    expect_error(oc_hwdb_get(db, with_id, &d, &err), &err, OC_ENOTFOUND, "unknown device 'gama' in");
    assert_non_null(strstr(err.msg, "did you mean 'gamma'?"));
    expect_error(oc_hwdb_get(db, "missing.xml", &d, &err), &err, OC_EIO, "missing.xml");
    expect_error(oc_hwdb_get(db, root, &d, &err), &err, OC_EIO, root); /* a folder */
    path_in(path, sizeof(path), "empty/a.xml");
    expect_error(oc_hwdb_get(db, path, &d, &err), &err, OC_EFORMAT, "no device in it");
    oc_hwdb_free(db);
}

static void rejects_unusable_folders(void **state)
{
    (void)state;
    char path[256];
    struct oc_hwdb *db;
    struct oc_hw_lint *lint;
    struct oc_err err = {0};
    path_in(path, sizeof(path), "many");
    expect_error(oc_hwdb_open(path, &db, &err), &err, OC_ELIMIT, "more than 1000 files");
    db = open_folder("none");
    expect_error(oc_hwdb_lint(db, NULL, 0, &lint, &err), &err, OC_ENOTFOUND, "no hardware files found");
    oc_hwdb_free(db);
}

static void full_disk_is_reported(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("one");
    struct oc_hw_lint *lint;
    struct oc_err err = {0};
    FILE *f = fopen("/dev/full", "w");
    if (!f)
        skip();
    setvbuf(f, NULL, _IONBF, 0);
    assert_int_equal(oc_hwdb_lint(db, NULL, 0, &lint, &err), 0);
    expect_error(oc_hw_lint_write(lint, "text", f, &err), &err, OC_EOUTPUT, "cannot write the problems");
    expect_error(oc_hwdb_write_list(db, "csv", 0, f, &err), &err, OC_EOUTPUT, "cannot write the devices");
    fclose(f);
    oc_hw_lint_free(lint);
    oc_hwdb_free(db);
}

static void description_lists_every_value(void **state)
{
    (void)state;
    struct oc_hwdb *db = open_folder("one");
    char *text = NULL;
    size_t n = 0;
    struct oc_err err = {0};
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    assert_int_equal(oc_device_describe(find(db, "alpha-100"), 0, f, &err), 0);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, "alpha-100: first (V, cpu)\nalso: Big Alpha\n"));
    assert_non_null(strstr(text, "vector f32  1 TFLOP/s  vendor  base   [1]\n"));
    assert_non_null(strstr(text, "\n[1] S\n"));
    free(text);
    f = fopen("/dev/full", "w");
    if (f) {
        setvbuf(f, NULL, _IONBF, 0);
        expect_error(oc_device_describe(find(db, "alpha-100"), 0, f, &err), &err, OC_EOUTPUT, "cannot write");
        fclose(f);
    }
    oc_hwdb_free(db);
    oc_hwdb_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xml_library_is_loaded_on_demand),
        cmocka_unit_test(devices_are_found_by_name_and_alias),
        cmocka_unit_test(unknown_device_lists_near_names),
        cmocka_unit_test(broken_file_is_an_error_only_when_read),
        cmocka_unit_test(only_files_with_the_name_are_read),
        cmocka_unit_test(duplicate_names_in_a_folder_are_an_error),
        cmocka_unit_test(earlier_folders_take_precedence),
        cmocka_unit_test(device_files_are_read_by_path),
        cmocka_unit_test(rejects_unusable_folders),
        cmocka_unit_test(full_disk_is_reported),
        cmocka_unit_test(description_lists_every_value),
    };
    return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
