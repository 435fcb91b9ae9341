#if os(Linux)
internal import CIDMCurl
internal import Foundation

extension TransportRequest {
    private static let http: Int = 1 << 0
    private static let https: Int = 1 << 1
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
                isCodingNamed = isCodingNamed || field.name == "Accept-Encoding"
                // Without a value libcurl would leave the field out.
                add(field.value.isEmpty ? "\(field.name.spelling);" : "\(field.name.spelling): \(field.value)")
            }
        }
        if !cookies.isEmpty { add("Cookie: \(cookies.joined(separator: "; "))") }
        if !isCodingNamed, !CurlLibrary.acceptedCodings.isEmpty || isForPart {
            add("Accept-Encoding: \(isForPart ? "identity" : CurlLibrary.acceptedCodings)")
        }
        // Nothing of libcurl's own: it would wait for a server's leave to send a long body.
        if body != nil { add("Expect:") }
        return list
    }

    /// Sets everything that libcurl has to know of the request, but for its header's memory and its callbacks.
    func setOptions(of easy: OpaquePointer, fields: OpaquePointer?, settings: CurlLoop.Settings) {
        func set(_ option: Int32, _ value: Int) { _ = cidm_set_long(easy, option, value) }
        _ = cidm_set_text(easy, CurlOption.url, url.absoluteString)
        set(CurlOption.noSignal, 1)
        set(CurlOption.protocols, Self.http | Self.https)
        set(CurlOption.pathAsIs, 1)
        set(CurlOption.disallowUsernameInURL, 1)
        set(CurlOption.suppressConnectHeaders, 1)
        set(CurlOption.httpVersion, Self.http2OverTLS)
        set(CurlOption.pipeWait, 1)
        set(CurlOption.sslVersion, Self.tls12)
        set(CurlOption.bufferSize, 64 << 10)
        // Time is kept by whoever asks the transport. A cancel doesn't wait for the name of a host.
        set(CurlOption.connectTimeoutMilliseconds, Int(Int32.max))
        set(CurlOption.quickExit, 1)
        if let certificates = settings.certificates { _ = cidm_set_text(easy, CurlOption.caInfo, certificates) }
        if let fields { _ = cidm_set_list(easy, CurlOption.httpHeader, fields) }
        if method == .head {
            set(CurlOption.noBody, 1)
        } else {
            if body != nil || Self.announceNoBody.contains(method) {
                set(CurlOption.upload, 1)
                _ = cidm_set_offset(easy, CurlOption.inFileSizeLarge, body.map { Int64($0.length ?? -1) } ?? 0)
                set(CurlOption.uploadBufferSize, 128 << 10)
            }
            _ = cidm_set_text(easy, CurlOption.customRequest, method.name)
        }
    }

    /// Some servers want to be told that there is no body.
    private static let announceNoBody: Set<ServiceRequest.Method> = [.post, .put, .patch]

    /// Whether a part of a body is asked for. That of a packed one could not be unpacked.
    var isForPart: Bool { headers["Range"] != nil }
}
#endif
