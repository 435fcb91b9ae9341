#if os(Linux)
internal import CIDMCurl
internal import Foundation

/// Unpacks a body at the pace of its reader, so that packed zeros take no more memory than other bytes, and no time of
/// other exchanges.
struct BodyUnpacker: ~Copyable {
    /// A coding of bodies, by its name in a header.
    enum Coding: String, CaseIterable {
        case gzip, br, zstd, deflate

        fileprivate var kind: Int32 {
            switch self {
            case .gzip: Int32(CIDM_GZIP)
            case .deflate: Int32(CIDM_DEFLATE)
            case .br: Int32(CIDM_BROTLI)
            case .zstd: Int32(CIDM_ZSTD)
            }
        }

        /// True if libcurl is linked with the library for it.
        var isSupported: Bool { cidm_decoder_exists(kind) }

        /// The coding of a response. Nil if it has none.
        init?(_ headers: ServiceHeaders) throws(TransportFault) {
            let names = headers.values(of: "Content-Encoding").flatMap { $0.split(separator: ",") }
                .map { $0.trimmingCharacters(in: .whitespaces).asciiLowercased() }
                .filter { !$0.isEmpty && $0 != "identity" }
            guard let name = names.first else { return nil }
            guard names.count == 1, let coding = Coding(rawValue: name == "x-gzip" ? "gzip" : name),
                coding.isSupported
            else { throw TransportFault(.undecodable) }
            self = coding
        }
    }

    private static let pieceLength = 64 << 10

    private let decoder: OpaquePointer
    private let limit: Int
    private var input = Data()
    private var output = [UInt8](repeating: 0, count: pieceLength)
    private var unpacked = 0
    /// True if the decoder may have more output without more input.
    private var isFull = false
    private var hasInput = false
    /// True if the input so far is a complete packed body.
    private var isWhole = false

    /// - Parameter limit: The most bytes that the body may have, once it is unpacked.
    init?(_ coding: Coding, limit: Int) {
        guard let decoder = cidm_decoder_make(coding.kind) else { return nil }
        self.decoder = decoder
        self.limit = limit
    }

    deinit { cidm_decoder_free(decoder) }

    /// Appends packed bytes.
    mutating func append(_ bytes: Data) {
        // In general all of it has been unpacked.
        input = input.isEmpty ? bytes : input + bytes
        hasInput = true
    }

    /// The next unpacked bytes. Nil if more packed ones are needed.
    mutating func next() throws(TransportFault) -> Data? {
        while !input.isEmpty || isFull {
            var result = CIDM_DECODER_MORE
            var count = 0
            var rest = input.count
            output.withUnsafeMutableBufferPointer { output in
                input.withUnsafeBytes { bytes in
                    let bytes = bytes.bindMemory(to: UInt8.self)
                    var (from, to) = (bytes.baseAddress, output.baseAddress)
                    var room = output.count
                    result = Int(cidm_decoder_unpack(decoder, &from, &rest, &to, &room))
                    count = output.count - room
                    isFull = room == 0
                }
            }
            input = rest == 0 ? Data() : input.suffix(rest)
            guard result != CIDM_DECODER_FAILED else { throw TransportFault(.undecodable) }
            isWhole = result == CIDM_DECODER_ENDED
            guard count <= limit - unpacked else { throw TransportFault(.bodyTooLarge(limit: limit)) }
            unpacked += count
            if count > 0 { return Data(output[..<count]) }
        }
        return nil
    }

    /// Throws if the packed bytes, which have ended, aren't whole. No bytes at all are an empty body.
    func end() throws(TransportFault) {
        if hasInput, !isWhole { throw TransportFault(.truncated) }
    }
}
#endif
