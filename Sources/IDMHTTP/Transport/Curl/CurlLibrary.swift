#if os(Linux)
internal import CIDMCurl
internal import Foundation

/// The system's libcurl, bound once in a process.
enum CurlLibrary {
    /// Why libcurl can't be used. Nil if it can.
    static let fault: CurlTransport.Unavailable? = bind()
    /// The field of a header with the codings that can be unpacked.
    static let codingField: String = {
        let codings = BodyUnpacker.Coding.allCases.filter(\.isSupported).map(\.rawValue)
        return "Accept-Encoding: \(codings.isEmpty ? "identity" : codings.joined(separator: ", "))"
    }()

    private static func bind() -> CurlTransport.Unavailable? {
        var callbacks = CurlCallbacks.table
        if let missing = cidm_bind("libcurl.so.4", &callbacks) {
            let name = String(cString: missing)
            return name.hasPrefix("libcurl") ? .noLibrary(name) : .noFunction(name)
        }
        let version = cidm_version()
        guard version >= Self.oldestVersion else {
            return .oldVersion("\(version >> 16).\(version >> 8 & 255).\(version & 255)")
        }
        let features = cidm_features()
        for (bit, name) in [(2, "TLS"), (7, "asynchronous name resolution")] where features & 1 << bit == 0 {
            return .noFeature(name)
        }
        return nil
    }

    /// The first version with `CURLOPT_PREREQFUNCTION`.
    private static let oldestVersion: UInt32 = 0x07_50_00
}

extension CurlTransport {
    /// Why a ``CurlTransport`` can't be made: what the system lacks.
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

        /// What is missing, in one sentence.
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

/// The options and codes of libcurl that are used here, by their names there.
enum CurlOption {
    static let url: Int32 = 10002
    static let sslVersion: Int32 = 32
    static let httpHeader: Int32 = 10023
    static let customRequest: Int32 = 10036
    static let noBody: Int32 = 44
    static let upload: Int32 = 46
    static let caInfo: Int32 = 10065
    static let freshConnect: Int32 = 74
    static let httpGet: Int32 = 80
    static let httpVersion: Int32 = 84
    static let bufferSize: Int32 = 98
    static let noSignal: Int32 = 99
    static let inFileSizeLarge: Int32 = 30115
    static let connectTimeoutMilliseconds: Int32 = 156
    static let protocols: Int32 = 181
    static let pathAsIs: Int32 = 234
    static let pipeWait: Int32 = 237
    static let suppressConnectHeaders: Int32 = 265
    static let disallowUsernameInURL: Int32 = 278
    static let uploadBufferSize: Int32 = 280
    static let quickExit: Int32 = 322
    /// Of the whole of transfers.
    static let maxConnects: Int32 = 6
}

/// What libcurl says of a transfer.
enum CurlInfo {
    static let sslVerifyResult: Int32 = 0x20000D
    static let httpConnectCode: Int32 = 0x200016
    static let httpVersion: Int32 = 0x20002E
    static let sizeUpload: Int32 = 0x600007
}
#endif
