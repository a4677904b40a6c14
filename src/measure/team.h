/* Thread team for measurements: each thread pinned to a processor, working in lockstep. Between two regions
 * the threads sleep or spin. */
#ifndef OC_TEAM_H
#define OC_TEAM_H

#include "onnxcost_types.h"

unsigned oc_team_processors(void); /* processors available to this process */

struct oc_team;
/* The caller is thread 0, and stays pinned to the first processor until the team is freed. threads: 1 to
 * oc_team_processors(). */
int oc_team_make(unsigned threads, struct oc_team **out, struct oc_err *err);
void oc_team_free(struct oc_team *t);

/* awake: waiting threads spin; else they sleep and leave the machine to the others. */
void oc_team_awake(struct oc_team *t, bool awake);

/* A parallel region: work(user, 0) ... work(user, active - 1), one per thread; returns when all are done. */
void oc_team_run(struct oc_team *t, unsigned active, void (*work)(void *user, unsigned index), void *user);

double oc_seconds(void); /* monotonic clock */

#endif
