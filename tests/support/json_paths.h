/* A JSON text as a table from paths ("join.rows[3].time_ns") to values, for tests that look up and sum
 * values. Containers are not in the table; "PATH.n" is the length of an array. */
#ifndef TEST_JSON_PATHS_H
#define TEST_JSON_PATHS_H

#include "base/map.h"

struct t_json {
    struct oc_arena arena;
    struct oc_map paths;
    const char **value; /* heap: as written, strings without quotes, NULL for null */
    size_t n, cap;
};

struct t_json t_json_read(const char *text); /* fails the test when the text is not JSON */
void t_json_free(struct t_json *j);

/* The path is a printf format. A missing path fails the test. */
const char *t_text(const struct t_json *j, const char *path, ...) __attribute__((format(printf, 2, 3)));
bool t_is_null(const struct t_json *j, const char *path, ...) __attribute__((format(printf, 2, 3)));
double t_number(const struct t_json *j, const char *path, ...)
    __attribute__((format(printf, 2, 3))); /* null: 0 */
uint64_t t_whole(const struct t_json *j, const char *path, ...)
    __attribute__((format(printf, 2, 3))); /* null: 0 */

#endif
