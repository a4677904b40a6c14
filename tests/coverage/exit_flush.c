/* Counters of MODE=coverage are written when a program exits. A forked process ends with _exit, which omits
 * them: the linker substitutes this function (--wrap=_exit). */
void __gcov_dump(void);
_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);

void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}
