#define _GNU_SOURCE
#include "CIDMCurl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// The types of libcurl's interface, from https://curl.se/libcurl/c.
typedef struct { int age; const char *version; unsigned version_number; const char *host; int features; } version_info;
typedef struct { int message; cidm_easy *easy; union { void *whatever; int result; } data; } message;
typedef struct { int family, kind, protocol; unsigned length; struct sockaddr address; } socket_address;

enum { OPTION_CLOSESOCKETFUNCTION = 20208, OPTION_OPENSOCKETFUNCTION = 20163, OPTION_SSL_CTX_FUNCTION = 20108 };
enum { OPTION_CLOSESOCKETDATA = 10209, OPTION_HEADERFUNCTION = 20079, OPTION_PREREQFUNCTION = 20312 };
enum { OPTION_OPENSOCKETDATA = 10164, OPTION_WRITEFUNCTION = 20011, OPTION_READFUNCTION = 20012 };
enum { OPTION_HEADERDATA = 10029, OPTION_PREREQDATA = 10313, OPTION_WRITEDATA = 10001, OPTION_READDATA = 10009 };
enum { OPTION_PRIVATE = 10103, INFO_PRIVATE = 0x100000 + 21, INFO_TLS_SSL_PTR = 0x400000 + 45 };
enum { MULTI_SOCKETFUNCTION = 20001, MULTI_SOCKETDATA = 10002, WATCH_IN = 1, WATCH_OUT = 2, WATCH_NO_MORE = 4 };
enum { ACTION_IN = 1, ACTION_OUT = 2, ACTION_ERROR = 4, ACTION_TIMEOUT = -1 };
enum { SHARE_OPTION_SHARE = 1, SHARE_CONNECTIONS = 5, MESSAGE_DONE = 1, GLOBAL_DEFAULT = 3, BAD_SOCKET = -1 };

#define FUNCTIONS(function) \
  function(int, curl_global_init, (long)) \
  function(const version_info *, curl_version_info, (int)) \
  function(cidm_easy *, curl_easy_init, (void)) \
  function(void, curl_easy_cleanup, (cidm_easy *)) \
  function(int, curl_easy_pause, (cidm_easy *, int)) \
  function(int, curl_easy_setopt, (cidm_easy *, int, ...)) \
  function(int, curl_easy_getinfo, (cidm_easy *, int, ...)) \
  function(cidm_list *, curl_slist_append, (cidm_list *, const char *)) \
  function(void, curl_slist_free_all, (cidm_list *)) \
  function(void *, curl_multi_init, (void)) \
  function(int, curl_multi_cleanup, (void *)) \
  function(int, curl_multi_setopt, (void *, int, ...)) \
  function(int, curl_multi_add_handle, (void *, cidm_easy *)) \
  function(int, curl_multi_remove_handle, (void *, cidm_easy *)) \
  function(int, curl_multi_socket_action, (void *, int, int, int *)) \
  function(int, curl_multi_timeout, (void *, long *)) \
  function(message *, curl_multi_info_read, (void *, int *)) \
  function(cidm_share *, curl_share_init, (void)) \
  function(int, curl_share_setopt, (cidm_share *, int, ...)) \
  function(int, curl_share_cleanup, (cidm_share *))

// From zlib.h, brotli/decode.h and zstd.h, which libcurl is linked with.
typedef struct {
  const uint8_t *next_in; unsigned avail_in; unsigned long total_in;
  uint8_t *next_out; unsigned avail_out; unsigned long total_out;
  const char *message; void *state; void *allocate; void *release; void *opaque;
  int data_type; unsigned long adler, reserved;
} zlib_stream;
typedef struct { void *bytes; size_t size, position; } zstd_output;
typedef struct { const void *bytes; size_t size, position; } zstd_input;
enum { ZLIB_OK = 0, ZLIB_END = 1, ZLIB_BUFFER = -5, ZLIB_NO_FLUSH = 0, ZLIB_WINDOW = 15, ZLIB_GZIP = 16 };
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1, ZSTD_WINDOW_LIMIT = 100 };

#define OPTIONAL_FUNCTIONS(function) \
  function(const char *, zlibVersion, (void)) \
  function(int, inflateInit2_, (zlib_stream *, int, const char *, int)) \
  function(int, inflateReset, (zlib_stream *)) \
  function(int, inflateReset2, (zlib_stream *, int)) \
  function(int, inflate, (zlib_stream *, int)) \
  function(int, inflateEnd, (zlib_stream *)) \
  function(void *, BrotliDecoderCreateInstance, (void *, void *, void *)) \
  function(int, BrotliDecoderDecompressStream, \
           (void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *)) \
  function(void, BrotliDecoderDestroyInstance, (void *)) \
  function(void *, ZSTD_createDCtx, (void)) \
  function(size_t, ZSTD_DCtx_setParameter, (void *, int, int)) \
  function(size_t, ZSTD_decompressStream, (void *, zstd_output *, zstd_input *)) \
  function(unsigned, ZSTD_isError, (size_t)) \
  function(size_t, ZSTD_freeDCtx, (void *)) \
  function(void, SSL_CTX_set_info_callback, (void *, void (*)(const void *, int, int))) \
  function(int, SSL_has_pending, (void *))

#define MEMBER(result, name, parameters) result(*name) parameters;
static struct { FUNCTIONS(MEMBER) OPTIONAL_FUNCTIONS(MEMBER) } bound;
static cidm_callbacks callbacks;

const char *cidm_bind(const char *library, const cidm_callbacks *used) {
  callbacks = *used;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return library;
  // A symbol is looked up in the library and in those that it is linked with.
#define BIND_OPTIONAL(result, name, parameters) *(void **)&bound.name = dlsym(handle, #name);
#define BIND(result, name, parameters) \
  BIND_OPTIONAL(result, name, parameters) \
  if (!bound.name) return #name;
  FUNCTIONS(BIND)
  OPTIONAL_FUNCTIONS(BIND_OPTIONAL)
  return bound.curl_global_init(GLOBAL_DEFAULT) == 0 ? NULL : "curl_global_init";
}

uint32_t cidm_version(void) { return bound.curl_version_info(0)->version_number; }
int cidm_features(void) { return bound.curl_version_info(0)->features; }

// MARK: One transfer

cidm_easy *cidm_easy_init(void) { return bound.curl_easy_init(); }
void cidm_easy_cleanup(cidm_easy *easy) { bound.curl_easy_cleanup(easy); }
int cidm_easy_pause(cidm_easy *easy, int mask) { return bound.curl_easy_pause(easy, mask); }
int cidm_set_long(cidm_easy *easy, long option, long value) { return bound.curl_easy_setopt(easy, (int)option, value); }
int cidm_set_offset(cidm_easy *easy, long option, int64_t value) {
  return bound.curl_easy_setopt(easy, (int)option, value);
}
int cidm_set_pointer(cidm_easy *easy, long option, const void *value) {
  return bound.curl_easy_setopt(easy, (int)option, value);
}

static int open_socket(void *loop, int purpose, socket_address *address) {
  int descriptor = socket(address->family, address->kind | SOCK_CLOEXEC, address->protocol);
  if (descriptor < 0) return BAD_SOCKET;
  callbacks.opened(loop, descriptor);
  return descriptor;
}

static int close_socket(void *loop, int descriptor) {
  callbacks.closed(loop, descriptor);
  return close(descriptor);
}

// The sessions of TLS whose peers have said in this turn that they close. libcurl takes a connection that just closes
// for one that says so, and a body that ends with it would be whole wherever it is cut off.
enum { NOTIFIED_LIMIT = 64 };
static _Thread_local uintptr_t notified[NOTIFIED_LIMIT];
static _Thread_local unsigned notified_count;

static void note_alert(const void *session, int kind, int alert) {
  enum { READ_ALERT = 0x4004, CLOSE_NOTIFY = 0 };
  bool is_close = kind == READ_ALERT && (alert & 255) == CLOSE_NOTIFY;
  if (is_close) notified[notified_count++ % NOTIFIED_LIMIT] = (uintptr_t)session;
}

static int note_alerts(cidm_easy *easy, void *context, void *unused) {
  bound.SSL_CTX_set_info_callback(context, note_alert);
  return 0;
}

bool cidm_has_said_close(uintptr_t session) {
  if (notified_count > NOTIFIED_LIMIT) return true;
  for (unsigned i = 0; i < notified_count; i++) {
    if (notified[i] == session) return true;
  }
  return false;
}

void cidm_set_callbacks(cidm_easy *easy, uintptr_t number, uintptr_t loop) {
  void *data = (void *)number;
  int (*set)(cidm_easy *, int, ...) = bound.curl_easy_setopt;
  set(easy, OPTION_HEADERFUNCTION, callbacks.header), set(easy, OPTION_HEADERDATA, data);
  set(easy, OPTION_WRITEFUNCTION, callbacks.write), set(easy, OPTION_WRITEDATA, data);
  set(easy, OPTION_READFUNCTION, callbacks.read), set(easy, OPTION_READDATA, data);
  set(easy, OPTION_PREREQFUNCTION, callbacks.prereq), set(easy, OPTION_PREREQDATA, data);
  set(easy, OPTION_OPENSOCKETFUNCTION, open_socket), set(easy, OPTION_OPENSOCKETDATA, (void *)loop);
  set(easy, OPTION_CLOSESOCKETFUNCTION, close_socket), set(easy, OPTION_CLOSESOCKETDATA, (void *)loop);
  set(easy, OPTION_PRIVATE, data);
  if (bound.SSL_CTX_set_info_callback) set(easy, OPTION_SSL_CTX_FUNCTION, note_alerts);
}

long cidm_get_long(cidm_easy *easy, long info) {
  long value = 0;
  bound.curl_easy_getinfo(easy, (int)info, &value);
  return value;
}

int64_t cidm_get_offset(cidm_easy *easy, long info) {
  int64_t value = 0;
  bound.curl_easy_getinfo(easy, (int)info, &value);
  return value;
}

uintptr_t cidm_get_number(cidm_easy *easy) {
  void *number = NULL;
  bound.curl_easy_getinfo(easy, INFO_PRIVATE, &number);
  return (uintptr_t)number;
}

uintptr_t cidm_session(cidm_easy *easy) {
  struct { int backend; void *internals; } *session = NULL;
  enum { OPENSSL = 1 };
  if (!bound.SSL_has_pending || !bound.SSL_CTX_set_info_callback) return 0;
  if (bound.curl_easy_getinfo(easy, INFO_TLS_SSL_PTR, &session) != 0 || !session) return 0;
  return session->backend == OPENSSL ? (uintptr_t)session->internals : 0;
}

bool cidm_has_decrypted_bytes(uintptr_t session) { return session && bound.SSL_has_pending((void *)session) != 0; }

cidm_list *cidm_list_append(cidm_list *list, const char *text) { return bound.curl_slist_append(list, text); }
void cidm_list_free(cidm_list *list) { bound.curl_slist_free_all(list); }

// MARK: Many transfers

struct cidm_multi {
  void *curl;
  // Watches the sockets that libcurl asks for, and `wake`.
  int poll, wake;
};

static int watch(cidm_easy *easy, int descriptor, int what, void *multi, void *unused) {
  int poll = ((cidm_multi *)multi)->poll;
  if (what == WATCH_NO_MORE) {
    epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, NULL);
    return 0;
  }
  uint32_t kinds = (what & WATCH_IN ? EPOLLIN : 0) | (what & WATCH_OUT ? EPOLLOUT : 0);
  struct epoll_event event = {kinds, {.fd = descriptor}};
  if (epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
  return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

cidm_multi *cidm_multi_init(void) {
  cidm_multi *multi = calloc(1, sizeof(cidm_multi));
  if (!multi) return NULL;
  multi->poll = epoll_create1(EPOLL_CLOEXEC);
  multi->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct epoll_event event = {EPOLLIN, {.fd = multi->wake}};
  bool is_made = epoll_ctl(multi->poll, EPOLL_CTL_ADD, multi->wake, &event) == 0;
  if (is_made && (multi->curl = bound.curl_multi_init())) {
    bound.curl_multi_setopt(multi->curl, MULTI_SOCKETFUNCTION, watch);
    bound.curl_multi_setopt(multi->curl, MULTI_SOCKETDATA, multi);
    return multi;
  }
  cidm_multi_cleanup(multi);
  return NULL;
}

void cidm_multi_cleanup(cidm_multi *multi) {
  if (multi->curl) bound.curl_multi_cleanup(multi->curl);
  if (multi->poll >= 0) close(multi->poll);
  if (multi->wake >= 0) close(multi->wake);
  free(multi);
}

int cidm_multi_set_long(cidm_multi *multi, long option, long value) {
  return bound.curl_multi_setopt(multi->curl, (int)option, value);
}
int cidm_multi_add(cidm_multi *multi, cidm_easy *easy) { return bound.curl_multi_add_handle(multi->curl, easy); }
int cidm_multi_remove(cidm_multi *multi, cidm_easy *easy) {
  return bound.curl_multi_remove_handle(multi->curl, easy);
}

void cidm_multi_turn(cidm_multi *multi, int milliseconds) {
  enum { MOST_EVENTS = 64 };
  struct epoll_event events[MOST_EVENTS];
  long timeout = -1;
  bound.curl_multi_timeout(multi->curl, &timeout);
  if (timeout >= 0 && (milliseconds < 0 || timeout < milliseconds)) milliseconds = (int)timeout;
  int count = epoll_wait(multi->poll, events, MOST_EVENTS, milliseconds), running;
  notified_count = 0;
  for (int i = 0; i < count; i++) {
    int descriptor = events[i].data.fd;
    uint32_t kinds = events[i].events;
    if (descriptor == multi->wake) {
      eventfd_t value;
      eventfd_read(descriptor, &value);
      continue;
    }
    int action = (kinds & (EPOLLIN | EPOLLHUP) ? ACTION_IN : 0) | (kinds & EPOLLOUT ? ACTION_OUT : 0) |
                 (kinds & EPOLLERR ? ACTION_ERROR : 0);
    bound.curl_multi_socket_action(multi->curl, descriptor, action, &running);
  }
  bound.curl_multi_socket_action(multi->curl, ACTION_TIMEOUT, 0, &running);
}

void cidm_multi_wakeup(cidm_multi *multi) { eventfd_write(multi->wake, 1); }

cidm_easy *cidm_multi_next_ended(cidm_multi *multi, int *code) {
  int left = 0;
  message *next;
  while ((next = bound.curl_multi_info_read(multi->curl, &left))) {
    if (next->message != MESSAGE_DONE) continue;
    *code = next->data.result;
    return next->easy;
  }
  return NULL;
}

cidm_share *cidm_share_init(void) {
  cidm_share *share = bound.curl_share_init();
  if (share) bound.curl_share_setopt(share, SHARE_OPTION_SHARE, SHARE_CONNECTIONS);
  return share;
}

bool cidm_share_cleanup(cidm_share *share) { return bound.curl_share_cleanup(share) == 0; }

// MARK: Packed bodies

struct cidm_decoder {
  int kind;
  bool has_input;
  int state;
  zlib_stream zlib;
  void *other;
};

bool cidm_decoder_exists(int kind) {
  switch (kind) {
    case CIDM_GZIP: case CIDM_DEFLATE:
      return bound.zlibVersion && bound.inflateInit2_ && bound.inflateReset && bound.inflateReset2 && bound.inflate &&
             bound.inflateEnd;
    case CIDM_BROTLI:
      return bound.BrotliDecoderCreateInstance && bound.BrotliDecoderDecompressStream &&
             bound.BrotliDecoderDestroyInstance;
    case CIDM_ZSTD:
      return bound.ZSTD_createDCtx && bound.ZSTD_DCtx_setParameter && bound.ZSTD_decompressStream &&
             bound.ZSTD_isError && bound.ZSTD_freeDCtx;
    default: return false;
  }
}

cidm_decoder *cidm_decoder_make(int kind) {
  if (!cidm_decoder_exists(kind)) return NULL;
  cidm_decoder *decoder = calloc(1, sizeof(cidm_decoder));
  if (!decoder) return NULL;
  decoder->kind = kind;
  bool is_made;
  switch (kind) {
    case CIDM_GZIP: case CIDM_DEFLATE: {
      int window = kind == CIDM_GZIP ? ZLIB_WINDOW + ZLIB_GZIP : ZLIB_WINDOW;
      is_made = bound.inflateInit2_(&decoder->zlib, window, bound.zlibVersion(), sizeof(zlib_stream)) == ZLIB_OK;
      break;
    }
    case CIDM_BROTLI: is_made = (decoder->other = bound.BrotliDecoderCreateInstance(NULL, NULL, NULL)); break;
    default:
      is_made = (decoder->other = bound.ZSTD_createDCtx());
      // No window of more than 8 MB, as RFC 9659 has it for HTTP: it would be that much memory.
      if (is_made) bound.ZSTD_DCtx_setParameter(decoder->other, ZSTD_WINDOW_LIMIT, 23);
  }
  if (is_made) return decoder;
  free(decoder);
  return NULL;
}

void cidm_decoder_free(cidm_decoder *decoder) {
  switch (decoder->kind) {
    case CIDM_BROTLI: bound.BrotliDecoderDestroyInstance(decoder->other); break;
    case CIDM_ZSTD: bound.ZSTD_freeDCtx(decoder->other); break;
    default: bound.inflateEnd(&decoder->zlib);
  }
  free(decoder);
}

static int inflate_some(cidm_decoder *decoder, const uint8_t **in, size_t *in_length, uint8_t **out, size_t *room) {
  enum { GZIP_MAGIC = 0x1f, ZLIB_METHOD_MASK = 0x0f, ZLIB_METHOD = 8 };
  zlib_stream *zlib = &decoder->zlib;
  if (decoder->state == CIDM_DECODER_ENDED) {
    // Another member may follow. What else stands there is ignored, as browsers do.
    if (decoder->kind != CIDM_GZIP || **in != GZIP_MAGIC) {
      *in += *in_length;
      *in_length = 0;
      return CIDM_DECODER_ENDED;
    }
    if (bound.inflateReset(zlib) != ZLIB_OK) return CIDM_DECODER_FAILED;
  }
  // Some servers send a deflate stream as it is, without the header of zlib.
  if (decoder->kind == CIDM_DEFLATE && !decoder->has_input && (**in & ZLIB_METHOD_MASK) != ZLIB_METHOD &&
      bound.inflateReset2(zlib, -ZLIB_WINDOW) != ZLIB_OK)
    return CIDM_DECODER_FAILED;
  zlib->next_in = *in;
  zlib->avail_in = (unsigned)*in_length;
  zlib->next_out = *out;
  zlib->avail_out = (unsigned)*room;
  int result = bound.inflate(zlib, ZLIB_NO_FLUSH);
  *in_length -= (size_t)(zlib->next_in - *in);
  *in = zlib->next_in;
  *room -= (size_t)(zlib->next_out - *out);
  *out = zlib->next_out;
  if (result == ZLIB_END) return CIDM_DECODER_ENDED;
  return result == ZLIB_OK || result == ZLIB_BUFFER ? CIDM_DECODER_MORE : CIDM_DECODER_FAILED;
}

static int brotli_some(cidm_decoder *decoder, const uint8_t **in, size_t *in_length, uint8_t **out, size_t *room) {
  if (decoder->state == CIDM_DECODER_ENDED) return CIDM_DECODER_FAILED;
  switch (bound.BrotliDecoderDecompressStream(decoder->other, in_length, in, room, out, NULL)) {
    case BROTLI_ERROR: return CIDM_DECODER_FAILED;
    case BROTLI_SUCCESS: return CIDM_DECODER_ENDED;
    default: return CIDM_DECODER_MORE;
  }
}

static int zstd_some(cidm_decoder *decoder, const uint8_t **in, size_t *in_length, uint8_t **out, size_t *room) {
  zstd_input input = {*in, *in_length, 0};
  zstd_output output = {*out, *room, 0};
  size_t result = bound.ZSTD_decompressStream(decoder->other, &output, &input);
  *in += input.position;
  *in_length -= input.position;
  *out += output.position;
  *room -= output.position;
  if (bound.ZSTD_isError(result)) return CIDM_DECODER_FAILED;
  return result == 0 ? CIDM_DECODER_ENDED : CIDM_DECODER_MORE;
}

int cidm_decoder_unpack(
    cidm_decoder *decoder, const uint8_t **input, size_t *input_length, uint8_t **output, size_t *output_length) {
  // Once called with all room used up, a decoder may hold bytes back without any more input.
  if (decoder->state == CIDM_DECODER_FAILED) return CIDM_DECODER_FAILED;
  if (decoder->state == CIDM_DECODER_ENDED && *input_length == 0) return CIDM_DECODER_ENDED;
  switch (decoder->kind) {
    case CIDM_BROTLI: decoder->state = brotli_some(decoder, input, input_length, output, output_length); break;
    case CIDM_ZSTD: decoder->state = zstd_some(decoder, input, input_length, output, output_length); break;
    default: decoder->state = inflate_some(decoder, input, input_length, output, output_length);
  }
  decoder->has_input = true;
  return decoder->state;
}
