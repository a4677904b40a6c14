/* Every operator of the index (tests/data/operator_index.tsv: name and domain, from the operator index of the
 * counting rules) has a row in the operator table. */
#include "ops/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define INDEX "tests/data/operator_index.tsv"

static void every_operator_of_the_index_has_a_row(void **state)
{
    (void)state;
    FILE *f = fopen(INDEX, "r");
    if (!f)
        fail_msg("cannot read '%s': run the tests in the root of the checkout", INDEX);
    char line[256], name[128], domain[128];
    unsigned n = 0, missing = 0;
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%127[^\t]\t%127[^\n]", name, domain) != 2)
            fail_msg("%s: '%s'", INDEX, line);
        n++;
        if (!oc_op_find(domain, name, 0)) {
            print_error("no row for %s:%s\n", domain, name);
            missing++;
        }
    }
    fclose(f);
    assert_int_equal(missing, 0);
    assert_in_range(n, 370, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operator_of_the_index_has_a_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
