#include "cli/help_pages.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output.h"

const char *const cli_topics[] = {"metrics", "profiles", "hwdb", "rules", "budget", "limits", "json"};
const size_t cli_n_topics = sizeof(cli_topics) / sizeof(cli_topics[0]);

bool cli_is_page(const char *word)
{
    if (!strncmp(word, "onnxcost", 8))
        return true;
    for (size_t i = 0; i < cli_n_topics; i++)
        if (!strcmp(cli_topics[i], word))
            return true;
    return false;
}

struct page {
    char name[64];       /* onnxcost-metrics */
    char text[PATH_MAX]; /* its text */
    char roff[PATH_MAX]; /* its source in the same folder; else `name`, for man to find */
};

static bool is_page_at(struct page *p, const char *dir)
{
    static const char section[] = "157";
    snprintf(p->text, sizeof(p->text), "%s/%s.txt", dir, p->name);
    if (access(p->text, R_OK))
        return false;
    for (const char *s = section; *s; s++) {
        snprintf(p->roff, sizeof(p->roff), "%s/%s.%c", dir, p->name, *s);
        if (access(p->roff, R_OK) == 0)
            return true;
    }
    snprintf(p->roff, sizeof(p->roff), "%s", p->name);
    return true;
}

/* The pages of a build are in the folder of the program, installed ones next to the hardware files. */
static bool find_page(struct page *p)
{
    char dir[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - sizeof("/man"));
    char *slash = n > 0 ? (dir[n] = '\0', strrchr(dir, '/')) : NULL;
    if (slash) {
        memcpy(slash, "/man", sizeof("/man"));
        if (is_page_at(p, dir))
            return true;
    }
    struct oc_hwdb *db;
    struct oc_err err;
    const char *folder;
    bool found = false;
    if (oc_hwdb_open(NULL, &db, &err))
        return false;
    for (size_t i = 0; !found && (folder = oc_hwdb_folder(db, i)); i++)
        found = (size_t)snprintf(dir, sizeof(dir), "%s/../man", folder) < sizeof(dir) && is_page_at(p, dir);
    oc_hwdb_free(db);
    return found;
}

/* False: there is no man, or it does not find the page; nothing was shown. */
static bool show_with_man(const struct page *p)
{
    fflush(stdout);
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN); /* belongs to the pager */
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        dup2(nowhere, STDERR_FILENO);
        execlp("man", "man", p->roff, (char *)NULL);
        _exit(CLI_ENVIRONMENT);
    }
    int status = -1;
    bool shown = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
    signal(SIGINT, interrupt);
    return shown;
}

static int print_text(const struct page *p, const char *output)
{
    char buf[8192];
    size_t n;
    struct cli_output out;
    FILE *in = fopen(p->text, "r");
    if (!in)
        return cli_fail(CLI_ENVIRONMENT, "cannot read '%s'", p->text);
    int rc = cli_output_open(output, &out);
    while (!rc && (n = fread(buf, 1, sizeof(buf), in)) > 0)
        fwrite(buf, 1, n, out.f);
    fclose(in);
    return rc ? rc : cli_output_close(&out, true);
}

int cli_help_page(const struct cli_opts *o, const char *word)
{
    struct page p;
    snprintf(p.name, sizeof(p.name), "%s%s", strncmp(word, "onnxcost", 8) ? "onnxcost-" : "", word);
    if (strchr(word, '/') || !find_page(&p))
        return cli_fail(
            CLI_ENVIRONMENT,
            "manual page '%s': not found in the folders of the program and of the hardware files; "
            "build with make, or run make install",
            p.name);
    if (!o->output && isatty(STDOUT_FILENO) && show_with_man(&p))
        return CLI_OK;
    return print_text(&p, o->output);
}
