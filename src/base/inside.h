/* Opens files only inside a given folder, whatever links and ".." the path contains. */
#ifndef OC_INSIDE_H
#define OC_INSIDE_H

/* Opens folder/path for reading if it is inside the folder after all links are followed ("": the working
 * directory). Returns a descriptor, or -1 with errno; EXDEV: outside. The opened file is the one that was
 * checked, even if links change concurrently (with openat2, Linux 5.6 or later). Never blocks: the file may
 * be a pipe. */
int oc_open_inside(const char *folder, const char *path);

/* 0: inside. Else errno as above. Opens nothing. */
int oc_look_inside(const char *folder, const char *path);

#endif
