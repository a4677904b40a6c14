#include "base/os.h"

#include <windows.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/os_win_text.h"

bool oc_win_wide(const char *utf8, wchar_t *out, size_t cap)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8, -1, out, (int)cap) > 0;
}

bool oc_win_utf8(const wchar_t *wide, char *out, size_t cap)
{
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, out, (int)cap, NULL, NULL) > 0;
}

void oc_win_slashes(char *path)
{
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

/* ---- files and memory ------------------------------------------------------------------------------- */

/* Mappings begin at multiples of this. */
static uint64_t granularity(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwAllocationGranularity;
}

void *oc_os_map(int fd, const char *path, uint64_t offset_bytes, uint64_t size_bytes)
{
    (void)path;
    uint64_t before = offset_bytes % granularity(), from = offset_bytes - before;
    HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(fd), NULL, PAGE_READONLY, 0, 0, NULL);
    uint8_t *p = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, (DWORD)(from >> 32), (DWORD)from,
                                         (size_t)(before + size_bytes))
                         : NULL;
    if (!p)
        errno = GetLastError() == ERROR_NOT_ENOUGH_MEMORY ? ENOMEM
                : GetLastError() == ERROR_ACCESS_DENIED   ? EACCES
                                                          : EIO;
    if (mapping)
        CloseHandle(mapping); /* the view keeps it */
    return p ? p + before : NULL;
}

void oc_os_unmap(const void *data, uint64_t size_bytes)
{
    (void)size_bytes;
    UnmapViewOfFile((const void *)((uintptr_t)data - (uintptr_t)data % (uintptr_t)granularity()));
}

void oc_os_advise(const void *data, size_t bytes, enum oc_os_advice advice)
{
    (void)data;
    (void)bytes;
    (void)advice;
}

/* Between the check of the path and this call another program may replace a folder by a junction. */
int oc_os_open_beneath(const char *folder, const char *rest, const char *path)
{
    (void)folder;
    (void)rest;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- programs and libraries -------------------------------------------------------------------------- */

bool oc_os_program_path(char *path, size_t cap)
{
    wchar_t name[PATH_MAX];
    DWORD n = GetModuleFileNameW(NULL, name, PATH_MAX);
    bool known = n > 0 && n < PATH_MAX && oc_win_utf8(name, path, cap);
    if (known)
        oc_win_slashes(path);
    return known;
}

int oc_os_check_processes(const char *what, struct oc_err *err)
{
    return oc_fail(err, OC_ELIBRARY, "%s is not available on Windows: run it under Linux (WSL)", what);
}

/* ---- the program's start ----------------------------------------------------------------------------- */

/* "models\a.onnx" and "--profile=runs\a.json": the program takes folders apart at '/'. Only names of files
 * that exist: a backslash of a regular expression remains. */
static void name_with_slashes(char *word)
{
    wchar_t name[PATH_MAX];
    char *value = word[0] == '-' && word[1] == '-' ? strchr(word, '=') : NULL,
         *path = value ? value + 1 : word;
    if (strchr(path, '\\') && oc_win_wide(path, name, PATH_MAX) &&
        GetFileAttributesW(name) != INVALID_FILE_ATTRIBUTES)
        oc_win_slashes(path);
}

static void take_arguments(int *argc, char ***argv)
{
    int n;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
    if (!wide)
        return;
    char **word = oc_xcalloc((size_t)n + 1, sizeof(*word));
    for (int i = 0; i < n; i++) {
        size_t cap = 4 * wcslen(wide[i]) + 1;
        word[i] = oc_xcalloc(cap, 1);
        oc_win_utf8(wide[i], word[i], cap);
        name_with_slashes(word[i]);
    }
    LocalFree(wide);
    *argc = n;
    *argv = word;
}

/* A console shows UTF-8, which the program learns from LANG as elsewhere. */
static void set_console(void)
{
    static const DWORD streams[] = {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    for (size_t i = 0; i < OC_COUNT(streams); i++) {
        DWORD mode;
        HANDLE h = GetStdHandle(streams[i]);
        if (!GetConsoleMode(h, &mode))
            continue;
        if (SetConsoleOutputCP(CP_UTF8) && !getenv("LC_ALL") && !getenv("LC_CTYPE") && !getenv("LANG"))
            _putenv("LANG=C.UTF-8");
        if (!SetConsoleMode(h, mode | 4 /* ENABLE_VIRTUAL_TERMINAL_PROCESSING */))
            _putenv("NO_COLOR=1");
    }
}

void oc_win_start(int *argc, char ***argv)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        _setmode(fd, _O_BINARY);
    set_console();
    take_arguments(argc, argv);
}
