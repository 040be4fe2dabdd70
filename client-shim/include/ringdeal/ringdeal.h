/* ringdeal.h: receive connections from ringdeald in a program that is written for it.
 *
 * A worker joins a listener of ringdeald by name or address, watches one descriptor with whatever
 * event loop it has, and takes connections with ringdeal_accept as it would with accept4. It tells
 * ringdeald when a turn of its loop begins and ends, and how many connections it has closed, so
 * that the next connection goes to the worker that should have it.
 *
 * When ringdeald dies, stops or is restarted, nothing changes for the caller: the descriptor stays
 * the same and ringdeal_accept then takes connections from the listener itself, as long as the
 * listener's `share_listener` is on (it is by default). Once ringdeald is back, the handle
 * registers again from within ringdeal_accept and ringdeal_pass_end.
 *
 * Functions that can fail return -1 or NULL and set errno; ringdeal_last_error says in words what
 * failed. A handle may be used by several threads at once, except for ringdeal_leave. It belongs to
 * the process that joined: after fork, the child joins anew and leaves the parent's handle alone.
 */
#ifndef RINGDEAL_RINGDEAL_H
#define RINGDEAL_RINGDEAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ringdeal_worker ringdeal_worker;

/* Zero it, set `size`, then what you need: fields are only ever added at the end. Texts are copied
 * or used during ringdeal_join alone. */
typedef struct ringdeal_options {
  size_t size;              /* sizeof(ringdeal_options) */
  const char* control_path; /* of ringdeald's control socket; NULL: $RINGDEAL_CONTROL, else the
                               default for this user */
  const char* listener;     /* name of the listener in ringdeald's configuration, or */
  const char* address;      /* its address: "127.0.0.1:8080", "[::1]:8080", "unix:/run/app.sock" */
  int listener_fd;          /* a descriptor of the listener if the program has it: the right to join
                               without being named in `allow`. 0 or less: none. Stays the caller's */
  unsigned weight;          /* share beside the other workers', 1 to 1000; 0: 1 */
  const char* cpus;         /* CPUs that this worker runs on, "0-3,8"; NULL: ringdeald finds out */
  int one_at_a_time;   /* not 0: ringdeal_accept blocks, and a connection comes only to a thread
                          that waits in it */
  unsigned timeout_ms; /* how long to wait for ringdeald's answer; 0: 5000 */
} ringdeal_options;

/* Joins a listener. NULL and errno on failure:
 *   ECONNREFUSED  nobody answers at the control socket
 *   EACCES        ringdeald refused; ringdeal_last_error has its answer
 *   ETIMEDOUT     no answer in time (with `listener_fd` it joins all the same, and accepts from the
 *                 listener itself until the answer comes)
 *   EINVAL        options without a size, or naming no listener
 *   ENOMEM, EMFILE */
ringdeal_worker* ringdeal_join(const ringdeal_options* options);

/* The descriptor to watch: readable when ringdeal_accept may have a connection. It is the same for
 * as long as the handle lives, and the handle's to close. */
int ringdeal_fd(const ringdeal_worker* handle);

/* Takes one connection, as accept4: `flags` are SOCK_NONBLOCK and SOCK_CLOEXEC (macOS: O_NONBLOCK
 * and O_CLOEXEC), `address` and `length` may be NULL. Returns the caller's descriptor, or -1:
 *   EAGAIN  there is none (not with one_at_a_time)
 *   EINTR   a signal came while it blocked (with one_at_a_time)
 *   EMFILE  no descriptor number is free; the connection waits
 *   ENOTCONN  ringdeald is gone and did not share the listener */
int ringdeal_accept(ringdeal_worker* handle, struct sockaddr* address, socklen_t* length,
                    int flags);

/* A turn of the event loop, a pass: _begin when the wait call has returned, _end before the next. A
 * worker that is inside one pass for long is passed over. Threads count by themselves. */
void ringdeal_pass_begin(ringdeal_worker* handle);
void ringdeal_pass_end(ringdeal_worker* handle);

/* `connections` of those that ringdeal_accept gave were closed. */
void ringdeal_closed(ringdeal_worker* handle, uint64_t connections);

/* The worker holds this much work, in connections, that it has not begun: counted into its load. */
void ringdeal_queued(ringdeal_worker* handle, uint32_t connections);

/* Leaves: nothing more is handed over, what was on its way goes to others, open connections are the
 * program's. The handle is gone. */
void ringdeal_leave(ringdeal_worker* handle);

/* What failed last in this thread, one line without its end; "" if nothing has. */
const char* ringdeal_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
