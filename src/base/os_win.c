/* Windows: mapped files, the program's start, and files as POSIX has them. */
#include "base/os.h"

#include <stdarg.h>
#include <windows.h>

#include "base/arena.h"
#include "base/diag.h"

/* File names for Windows' functions, which take UTF-16. False: not UTF-8, or longer. */
static bool win_wide(const char *utf8, wchar_t *out, size_t cap)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8, -1, out, (int)cap) > 0;
}

static bool win_utf8(const wchar_t *wide, char *out, size_t cap)
{
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, out, (int)cap, NULL, NULL) > 0;
}

/* "a\b" becomes "a/b". */
static void win_slashes(char *path)
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
    bool known = n > 0 && n < PATH_MAX && win_utf8(name, path, cap);
    if (known)
        win_slashes(path);
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
    if (strchr(path, '\\') && win_wide(path, name, PATH_MAX) &&
        GetFileAttributesW(name) != INVALID_FILE_ATTRIBUTES)
        win_slashes(path);
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
        win_utf8(wide[i], word[i], cap);
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

/* ---- files with names in UTF-8 ------------------------------------------------------------------------ */

/* Files of Windows with names in UTF-8, and with the behaviour of POSIX: folders can be opened, a file has an
 * identity, renaming replaces, an open file can be removed. */

/* What POSIX would set. */
static int set_errno(void)
{
    static const struct {
        DWORD windows;
        int posix;
    } codes[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},
        {ERROR_PATH_NOT_FOUND, ENOENT},
        {ERROR_BAD_NETPATH, ENOENT},
        {ERROR_BAD_NET_NAME, ENOENT},
        {ERROR_INVALID_NAME, ENOENT},
        {ERROR_BAD_PATHNAME, ENOENT},
        {ERROR_INVALID_DRIVE, ENOENT},
        {ERROR_FILE_EXISTS, EEXIST},
        {ERROR_ALREADY_EXISTS, EEXIST},
        {ERROR_ACCESS_DENIED, EACCES},
        {ERROR_SHARING_VIOLATION, EACCES},
        {ERROR_LOCK_VIOLATION, EACCES},
        {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
        {ERROR_OUTOFMEMORY, ENOMEM},
        {ERROR_COMMITMENT_LIMIT, ENOMEM},
        {ERROR_DISK_FULL, ENOSPC},
        {ERROR_HANDLE_DISK_FULL, ENOSPC},
        {ERROR_DIRECTORY, ENOTDIR},
        {ERROR_WRITE_PROTECT, EROFS},
        {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
        {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
        {ERROR_INVALID_HANDLE, EBADF},
    };
    DWORD code = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].windows == code)
            errno = codes[i].posix;
    return -1;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

static HANDLE create(const char *path, DWORD access_bits, DWORD how, DWORD attributes)
{
    wchar_t name[PATH_MAX];
    if (!win_wide(strcmp(path, "/dev/null") ? path : "NUL", name, PATH_MAX)) {
        SetLastError(ERROR_INVALID_NAME);
        return INVALID_HANDLE_VALUE;
    }
    return CreateFileW(name, access_bits, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, how,
                       FILE_FLAG_BACKUP_SEMANTICS | attributes, NULL);
}

int open(const char *path, int flags, ...)
{
    static const DWORD rights[] = {
        [O_RDONLY] = GENERIC_READ, [O_WRONLY] = GENERIC_WRITE, [O_RDWR] = GENERIC_READ | GENERIC_WRITE};
    bool create_it = flags & O_CREAT, cut = flags & O_TRUNC;
    DWORD how = create_it && (flags & O_EXCL) ? CREATE_NEW
                : create_it && cut            ? CREATE_ALWAYS
                : create_it                   ? OPEN_ALWAYS
                : cut                         ? TRUNCATE_EXISTING
                                              : OPEN_EXISTING;
    HANDLE h = create(path, rights[flags & (O_RDONLY | O_WRONLY | O_RDWR)], how, FILE_ATTRIBUTE_NORMAL);
    if (h == INVALID_HANDLE_VALUE)
        return set_errno();
    int fd = _open_osfhandle((intptr_t)h, (flags & (O_APPEND | O_RDONLY)) | _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(h);
    return fd;
}

FILE *fopen(const char *path, const char *mode)
{
    bool plus = strchr(mode, '+');
    int flags = mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : O_CREAT | O_APPEND;
    int fd = open(path, flags | (plus ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY));
    const char plain[] = {mode[0], 'b', plus ? '+' : '\0', '\0'};
    FILE *f = fd < 0 ? NULL : _fdopen(fd, plain);
    if (!f && fd >= 0)
        close(fd);
    return f;
}

/* The file exists, and no other has its name: X's are replaced. */
int mkostemp(char *path, int flags)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static uint64_t last;
    char *x = path + strlen(path) - 6;
    (void)flags;
    for (int tries = 0; tries < 100; tries++) {
        LARGE_INTEGER now;
        QueryPerformanceCounter(&now);
        last = (last + (uint64_t)now.QuadPart + GetCurrentProcessId()) * 6364136223846793005u +
               1442695040888963407u;
        for (unsigned i = 0; i < 6; i++)
            x[i] = letters[(last >> (16 + 6 * i)) % 36];
        int fd = open(path, O_CREAT | O_EXCL | O_RDWR);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* A file that goes away when it is closed. */
int memfd_create(const char *name, unsigned flags)
{
    wchar_t folder[MAX_PATH], path[MAX_PATH];
    (void)name;
    (void)flags;
    if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"oc", 0, path))
        return set_errno();
    HANDLE h = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE,
                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, CREATE_ALWAYS,
                           FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (h == INVALID_HANDLE_VALUE)
        return set_errno();
    return _open_osfhandle((intptr_t)h, _O_BINARY | _O_NOINHERIT);
}

/* ---- what a file is ---------------------------------------------------------------------------------- */

static struct timespec time_of(FILETIME t)
{
    const uint64_t unix_epoch = 116444736000000000u, a_second = 10000000; /* units of 100 ns since 1601 */
    uint64_t ticks = ((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - unix_epoch;
    return (struct timespec){.tv_sec = (time_t)(ticks / a_second), .tv_nsec = (long)(ticks % a_second) * 100};
}

static int stat_of(HANDLE h, struct stat *st)
{
    BY_HANDLE_FILE_INFORMATION info;
    DWORD type = GetFileType(h);
    *st = (struct stat){.st_mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR};
    if (type != FILE_TYPE_DISK)
        return type == FILE_TYPE_UNKNOWN ? set_errno() : 0;
    if (!GetFileInformationByHandle(h, &info))
        return set_errno();
    st->st_mode = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0777 : S_IFREG | 0666;
    st->st_dev = info.dwVolumeSerialNumber;
    st->st_ino = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    st->st_size = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow);
    st->st_mtim = time_of(info.ftLastWriteTime);
    return 0;
}

int stat(const char *path, struct stat *st)
{
    HANDLE h = create(path, 0, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL);
    if (h == INVALID_HANDLE_VALUE)
        return set_errno();
    int rc = stat_of(h, st);
    CloseHandle(h);
    return rc;
}

int fstat(int fd, struct stat *st)
{
    HANDLE h = (HANDLE)_get_osfhandle(fd);
    return h == INVALID_HANDLE_VALUE ? -1 : stat_of(h, st);
}

int access(const char *path, int mode)
{
    struct stat st;
    (void)mode;
    return stat(path, &st);
}

char *realpath(const char *path, char *resolved)
{
    wchar_t name[PATH_MAX], *start = name;
    HANDLE h = create(*path ? path : ".", 0, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL);
    if (h == INVALID_HANDLE_VALUE)
        return set_errno() ? NULL : NULL;
    DWORD n = GetFinalPathNameByHandleW(h, name, PATH_MAX, FILE_NAME_NORMALIZED);
    CloseHandle(h);
    if (!n || n >= PATH_MAX)
        return NULL;
    if (!wcsncmp(name, L"\\\\?\\UNC\\", 8)) { /* \\server\share */
        start = name + 6;
        *start = L'\\';
    } else if (!wcsncmp(name, L"\\\\?\\", 4)) {
        start = name + 4;
    }
    char *out = resolved ? resolved : malloc(PATH_MAX);
    if (out && win_utf8(start, out, PATH_MAX))
        win_slashes(out);
    return out;
}

/* ---- changing ---------------------------------------------------------------------------------------- */

int rename(const char *from, const char *to)
{
    wchar_t a[PATH_MAX], b[PATH_MAX];
    if (!win_wide(from, a, PATH_MAX) || !win_wide(to, b, PATH_MAX)) {
        errno = ENOENT;
        return -1;
    }
    return MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING) ? 0 : set_errno();
}

int unlink(const char *path)
{
    wchar_t name[PATH_MAX];
    return win_wide(path, name, PATH_MAX) && DeleteFileW(name) ? 0 : set_errno();
}

int fsync(int fd)
{
    return FlushFileBuffers((HANDLE)_get_osfhandle(fd)) ? 0 : set_errno();
}

/* Permissions come from the folder. */
mode_t umask(mode_t mask)
{
    (void)mask;
    return 022;
}

int fchmod(int fd, mode_t mode)
{
    (void)fd;
    (void)mode;
    return 0;
}

int fcntl(int fd, int command, ...)
{
    (void)command;
    return _get_osfhandle(fd) < 0 ? -1 : 0;
}

/* ---- folders ----------------------------------------------------------------------------------------- */

struct oc_win_dir {
    HANDLE find;
    bool more; /* `found` was not returned yet */
    WIN32_FIND_DATAW found;
    struct dirent entry;
};

DIR *opendir(const char *path)
{
    char pattern[PATH_MAX];
    wchar_t name[PATH_MAX];
    DIR *d = calloc(1, sizeof(*d));
    int n = snprintf(pattern, sizeof(pattern), "%s/*", *path ? path : ".");
    if (d && n > 0 && n < PATH_MAX && win_wide(pattern, name, PATH_MAX))
        d->find = FindFirstFileW(name, &d->found);
    if (!d || !d->find || d->find == INVALID_HANDLE_VALUE) {
        set_errno();
        free(d);
        return NULL;
    }
    d->more = true;
    return d;
}

struct dirent *readdir(DIR *d)
{
    while (d->more) {
        bool fits = win_utf8(d->found.cFileName, d->entry.d_name, sizeof(d->entry.d_name));
        d->more = FindNextFileW(d->find, &d->found);
        if (fits)
            return &d->entry;
    }
    return NULL;
}

int closedir(DIR *d)
{
    FindClose(d->find);
    free(d);
    return 0;
}

unsigned oc_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}
