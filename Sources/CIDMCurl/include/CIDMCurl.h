// The part of libcurl's interface that IDMHTTP uses, declared from curl's public documentation, and bound at run time:
// no header and no package of curl is needed to build, and a program starts where there is no libcurl.
//
// The functions stand for those of libcurl with the same name. Those that are variadic there are not here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cidm_easy cidm_easy;
typedef struct cidm_multi cidm_multi;
typedef struct cidm_share cidm_share;
typedef struct cidm_list cidm_list;
typedef struct cidm_decoder cidm_decoder;

/// The callbacks of a transfer, in the types of libcurl. `number` and `loop` are what was given to
/// `cidm_set_callbacks`.
typedef struct {
  size_t (*header)(char *bytes, size_t size, size_t count, void *number);
  size_t (*write)(char *bytes, size_t size, size_t count, void *number);
  size_t (*read)(char *bytes, size_t size, size_t count, void *number);
  int (*prereq)(void *number, char *primary_ip, char *local_ip, int primary_port, int local_port);
  int (*opened)(void *loop, int descriptor);
  int (*closed)(void *loop, int descriptor);
} cidm_callbacks;

/// Binds a library by its name. Returns NULL, or what is missing: the library's name or that of a function. Must have
/// returned NULL before any other function is called, and must not be called by two threads at once.
const char *cidm_bind(const char *library, const cidm_callbacks *callbacks);

/// The version as 0xXXYYZZ, and the bits of the features.
uint32_t cidm_version(void);
int cidm_features(void);

// The options and codes of libcurl that Swift uses, by their names there.
enum { CURLOPT_SSLVERSION = 32, CURLOPT_NOBODY = 44, CURLOPT_UPLOAD = 46, CURLOPT_FRESH_CONNECT = 74 };
enum { CURLOPT_HTTPGET = 80, CURLOPT_HTTP_VERSION = 84, CURLOPT_BUFFERSIZE = 98, CURLOPT_NOSIGNAL = 99 };
enum { CURLOPT_CONNECTTIMEOUT_MS = 156, CURLOPT_PROTOCOLS = 181, CURLOPT_PATH_AS_IS = 234, CURLOPT_PIPEWAIT = 237 };
enum { CURLOPT_SUPPRESS_CONNECT_HEADERS = 265, CURLOPT_DISALLOW_USERNAME_IN_URL = 278 };
enum { CURLOPT_UPLOAD_BUFFERSIZE = 280, CURLOPT_QUICK_EXIT = 322, CURLOPT_URL = 10002, CURLOPT_ERRORBUFFER = 10010 };
enum { CURLOPT_HTTPHEADER = 10023, CURLOPT_CUSTOMREQUEST = 10036, CURLOPT_CAINFO = 10065, CURLOPT_SHARE = 10100 };
enum { CURLOPT_INFILESIZE_LARGE = 30115, CURLMOPT_MAXCONNECTS = 6 };
enum { CURLINFO_SSL_VERIFYRESULT = 0x20000D, CURLINFO_HTTP_CONNECTCODE = 0x200016, CURLINFO_HTTP_VERSION = 0x20002E };
enum { CURLINFO_SIZE_UPLOAD_T = 0x600007 };

// MARK: One transfer

cidm_easy *cidm_easy_init(void);
void cidm_easy_cleanup(cidm_easy *easy);
int cidm_easy_pause(cidm_easy *easy, int mask);
int cidm_set_long(cidm_easy *easy, long option, long value);
int cidm_set_offset(cidm_easy *easy, long option, int64_t value);
int cidm_set_pointer(cidm_easy *easy, long option, const void *value);
/// Sets the callbacks, with the numbers that they find their transfer and their loop by.
void cidm_set_callbacks(cidm_easy *easy, uintptr_t number, uintptr_t loop);
long cidm_get_long(cidm_easy *easy, long info);
int64_t cidm_get_offset(cidm_easy *easy, long info);
uintptr_t cidm_get_number(cidm_easy *easy);
/// The session of TLS that a transfer uses, while it has a connection. 0 for none, or for one of another library than
/// OpenSSL.
uintptr_t cidm_session(cidm_easy *easy);
/// Whether bytes of the peer have been decrypted, or are about to be, that no transfer has read.
bool cidm_has_decrypted_bytes(uintptr_t session);
/// Returns true if the peer has sent a closing notification in the last `cidm_multi_turn`.
bool cidm_has_said_close(uintptr_t session);
cidm_list *cidm_list_append(cidm_list *list, const char *text);
void cidm_list_free(cidm_list *list);

// MARK: Many transfers

cidm_multi *cidm_multi_init(void);
void cidm_multi_cleanup(cidm_multi *multi);
int cidm_multi_set_long(cidm_multi *multi, long option, long value);
int cidm_multi_add(cidm_multi *multi, cidm_easy *easy);
int cidm_multi_remove(cidm_multi *multi, cidm_easy *easy);
/// Waits for activity, a wake-up or the end of the time, and lets the transfers work. Negative time stands for no limit.
///
/// `curl_multi_perform` isn't used: versions before 8 may lose what a transfer has read for another over HTTP/2.
void cidm_multi_turn(cidm_multi *multi, int milliseconds);
/// Ends the wait of another thread, or its next one.
void cidm_multi_wakeup(cidm_multi *multi);
/// The next transfer that has ended, or NULL.
cidm_easy *cidm_multi_next_ended(cidm_multi *multi, int *code);
/// A cache of connections for those transfers that have it set, which have to be on one thread.
cidm_share *cidm_share_init(void);
bool cidm_share_cleanup(cidm_share *share);

// MARK: Packed bodies

enum { CIDM_GZIP = 1, CIDM_DEFLATE = 2, CIDM_BROTLI = 3, CIDM_ZSTD = 4 };
enum { CIDM_DECODER_FAILED = -1, CIDM_DECODER_MORE = 0, CIDM_DECODER_ENDED = 1 };

/// Whether libcurl has brought along a library that unpacks such a body.
bool cidm_decoder_exists(int kind);
cidm_decoder *cidm_decoder_make(int kind);
void cidm_decoder_free(cidm_decoder *decoder);
/// Unpacks as much as there is room for. Moves both pointers and lengths on. Returns whether what was read so far ends
/// a packed body.
int cidm_decoder_unpack(
    cidm_decoder *decoder, const uint8_t **input, size_t *input_length, uint8_t **output, size_t *output_length);
