#!/bin/sh
# Prints the C source of a program that runs one of several test programs: the one whose name it is called with, or is given.
# Each was compiled with main renamed to main_NAME. usage: tests/unit_main.sh tests/unit/FOLDER/test_X.c...
echo '#include <stdio.h>'
echo '#include <string.h>'
printf '%s\n' "$@" | sed 's|.*/\(.*\)\.c$|int main_\1();|'
echo 'static const struct test { const char *name; int (*run)(); } tests[] = {'
printf '%s\n' "$@" | sed 's|.*/\(.*\)\.c$|    {"\1", main_\1},|'
cat <<'END'
};
int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = argc > 1 ? argv[1] : slash ? slash + 1 : argv[0];
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (!strcmp(tests[i].name, name))
            return tests[i].run(argc, argv);
    fprintf(stderr, "%s: call it by the name of a test, or give the name: test_X\n", argv[0]);
    return 2;
}
END
