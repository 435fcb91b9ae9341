#if os(Linux)
internal import CIDMCurl
internal import Foundation

extension TransportRequest {
    private static let http: Int = 1 << 0
    private static let https: Int = 1 << 1
    private static let acceptEncoding: ServiceHeaders.Name = "Accept-Encoding"
    private static let http11 = 2
    private static let http2OverTLS = 4
    private static let tls12 = 6

    /// The header as libcurl takes it.
    func curlFields() -> OpaquePointer? {
        var list: OpaquePointer?
        func add(_ line: String) { list = cidm_list_append(list, line) ?? list }
        var cookies: [String] = []
        var isCodingNamed = false
        for field in headers {
            // Several of those are one.
            if field.name == .cookie {
                cookies.append(field.value)
            } else {
                isCodingNamed = isCodingNamed || field.name == Self.acceptEncoding
                // Without a value libcurl would leave the field out.
                add(field.value.isEmpty ? "\(field.name.spelling);" : "\(field.name.spelling): \(field.value)")
            }
        }
        if !cookies.isEmpty { add("Cookie: \(cookies.joined(separator: "; "))") }
        if !isCodingNamed { add(isForPart ? "Accept-Encoding: identity" : CurlLibrary.codingField) }
        // Nothing of libcurl's own: it would wait for a server's leave to send a long body.
        if body != nil { add("Expect:") }
        return list
    }

    /// Sets what is the same for all requests.
    static func setCommonOptions(of easy: OpaquePointer, _ settings: CurlLoop.Settings) {
        func set(_ option: Int, _ value: Int) { _ = cidm_set_long(easy, option, value) }
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS, http | https)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_SSLVERSION, tls12)
        set(CURLOPT_BUFFERSIZE, 128 << 10)
        set(CURLOPT_UPLOAD_BUFFERSIZE, 128 << 10)
        // Time is kept by the caller of the transport. A cancel doesn't wait for the name of a host.
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        set(CURLOPT_QUICK_EXIT, 1)
        if let certificates = settings.certificates { _ = cidm_set_pointer(easy, CURLOPT_CAINFO, certificates) }
    }

    /// Sets what differs between requests, also where it is as it was before: a handle has served others.
    ///
    /// - Parameter address: The URL, as text.
    func setOptions(of easy: OpaquePointer, address: String, fields: OpaquePointer?) {
        func set(_ option: Int, _ value: Int) { _ = cidm_set_long(easy, option, value) }
        // Where HTTP/2 is possible, requests wait until it is known whether the first connection speaks it. Without TLS
        // that would be known with the first response.
        let isEncrypted = address.utf8.prefix(5).elementsEqual("https".utf8, by: { $0 | 32 == $1 })
        set(CURLOPT_HTTP_VERSION, isEncrypted ? Self.http2OverTLS : Self.http11)
        set(CURLOPT_PIPEWAIT, isEncrypted ? 1 : 0)
        set(CURLOPT_FRESH_CONNECT, 0)
        _ = cidm_set_pointer(easy, CURLOPT_URL, address)
        _ = cidm_set_pointer(easy, CURLOPT_HTTPHEADER, UnsafeRawPointer(fields))
        // Unsets an upload, and that there is no body.
        set(CURLOPT_HTTPGET, 1)
        if method == .head {
            set(CURLOPT_NOBODY, 1)
        } else if body != nil || method == .post || method == .put || method == .patch {
            // Some servers refuse these methods without a Content-Length.
            set(CURLOPT_UPLOAD, 1)
            _ = cidm_set_offset(easy, CURLOPT_INFILESIZE_LARGE, body.map { Int64($0.length ?? -1) } ?? 0)
        }
        _ = cidm_set_pointer(easy, CURLOPT_CUSTOMREQUEST, method == .head ? nil : method.name)
    }

}
#endif
