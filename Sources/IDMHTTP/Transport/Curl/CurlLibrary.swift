#if os(Linux)
internal import CIDMCurl
internal import Foundation

/// The system's libcurl, bound once in a process.
enum CurlLibrary {
    /// The reason why libcurl can't be used. Nil if it can.
    static let fault: CurlTransport.Unavailable? = bind()
    /// The field of a header with the codings that can be unpacked.
    static let codingField: String = {
        let codings = BodyUnpacker.Coding.allCases.filter(\.isSupported).map(\.rawValue)
        return "Accept-Encoding: \(codings.isEmpty ? "identity" : codings.joined(separator: ", "))"
    }()

    /// False before libcurl 8.1: a handle that is used again keeps a pointer to a freed header of the last response,
    /// and writes there if the next header begins with a folded line (fixed by `headers: clear (possibly) lingering
    /// pointer in init`).
    static let canUseHandlesAgain = cidm_version() >= 0x08_01_00

    private static func bind() -> CurlTransport.Unavailable? {
        var callbacks = CurlCallbacks.table
        if let missing = cidm_bind("libcurl.so.4", &callbacks) {
            let name = String(cString: missing)
            return name.hasPrefix("libcurl") ? .noLibrary(name) : .noFunction(name)
        }
        let version = cidm_version()
        // The first version with `CURLOPT_PREREQFUNCTION`.
        guard version >= 0x07_50_00 else {
            return .oldVersion("\(version >> 16).\(version >> 8 & 255).\(version & 255)")
        }
        let features = cidm_features()
        for (bit, name) in [(2, "TLS"), (7, "asynchronous name resolution")] where features & 1 << bit == 0 {
            return .noFeature(name)
        }
        return nil
    }
}

extension CurlTransport {
    /// The reason why a ``CurlTransport`` can't be made.
    public enum Unavailable: Error, Sendable, Hashable, CustomStringConvertible {
        /// There is no such library.
        case noLibrary(String)
        /// The library lacks a function.
        case noFunction(String)
        /// The library is of this version, and older than 7.80.
        case oldVersion(String)
        /// The library was built without this.
        case noFeature(String)
        /// The system has no descriptor left.
        case noDescriptor

        /// The missing part, in one sentence.
        public var description: String {
            switch self {
            case .noLibrary(let name): "The library \(name) isn't installed."
            case .noFunction(let name): "The system's libcurl has no function \(name)."
            case .oldVersion(let version): "The system's libcurl is \(version). At least 7.80 is needed."
            case .noFeature(let name): "The system's libcurl was built without \(name)."
            case .noDescriptor: "The process has no file descriptor left."
            }
        }
    }
}
#endif
