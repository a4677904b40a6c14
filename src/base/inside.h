/* Files that may only lie inside of a folder, whatever links and ".." say. Knows nothing of what they hold.
 */
#ifndef OC_INSIDE_H
#define OC_INSIDE_H

/* Opens folder/path for reading, if it lies inside of the folder after all links are followed ("": the
 * working directory). Returns a descriptor, or -1 with errno: EXDEV, it lies elsewhere. The file that was
 * judged is the one that is opened, also when links are changed meanwhile (where the kernel has openat2,
 * since 5.6). Never blocks: the file may be a pipe. */
int oc_open_inside(const char *folder, const char *path);

/* 0: it lies inside. Else errno of the above. Opens nothing. */
int oc_look_inside(const char *folder, const char *path);

#endif
