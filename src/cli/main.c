/* The start of the program: standard streams, memory. All else is in run.c, which fuzz targets link too. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/cli.h"
#include "cli/output.h"

/* Opens /dev/null for closed standard streams: otherwise an output file could get the descriptor of a
 * standard stream and receive messages. */
static void fill_streams(void)
{
    static const int way[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", way[fd]) != fd)
            _exit(CLI_ENVIRONMENT);
}

/* Keeps freed memory until the program ends: by default malloc maps each large piece and returns the free top
 * of the heap to the kernel, only to request it again. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TOP_PAD, 512 << 10);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

int main(int argc, char **argv)
{
#ifdef _WIN32
    oc_win_start(&argc, &argv);
#endif
    keep_memory();
    fill_streams();
    /* a closed pipe and a limit on the size of files are failed writes, not a sudden death */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    cli_fault_install();
    cli_inputs_install();
    oc_set_oom_handler(cli_out_of_memory);
    return cli_run(argc, argv);
}
