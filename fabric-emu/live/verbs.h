/* verbs.h - verbs that use a running fabric. Each takes the command line from its verb on, and returns the exit code.
 * Other verbs are programs, hxmesh-VERB (tools/). */
#ifndef VERBS_H
#define VERBS_H

int verb_run(int argc, char **argv);
int verb_send(int argc, char **argv);
int verb_up(int argc, char **argv);
int verb_exec(int argc, char **argv);
int verb_down(int argc, char **argv);
int verb_serve(int argc, char **argv);
int verb_demo(int argc, char **argv);
int verb_capture(int argc, char **argv);
int verb_replay(int argc, char **argv);
int verb_fault(int argc, char **argv);
int verb_clean(int argc, char **argv);

#endif
