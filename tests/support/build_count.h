/* Records which operators the tests use, for tests/count_op_tests.sh: with ONNXCOST_COUNT_OPS=FILE in the
 * environment each call appends a line KIND, domain, name, program to the file; otherwise it does nothing. */
#ifndef BUILD_COUNT_H
#define BUILD_COUNT_H

void oc_count_op(const char *kind, const char *domain, const char *name);

#endif
