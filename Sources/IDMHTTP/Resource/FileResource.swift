public import Foundation
public import IDMCore

/// A value in a bundled or local file, read in the same way as one on a server.
///
/// ```swift
/// struct BundledCities: FileResource, DecodableReading {
///     let file: URL
///     typealias Value = [City]
/// }
///
/// if let file = Bundle.main.url(forResource: "cities", withExtension: "json") {
///     show(try await BundledCities(file: file).fetch())
/// }
/// ```
public protocol FileResource<Value>: ResourceReading {
    /// The location of the file.
    var file: URL { get }
}

extension FileResource {
    /// Reads the file, away from the caller's actor, and on a thread that may wait for a disk.
    ///
    /// Throws an ``HTTPError``: ``HTTPError/Reason/transport(_:)`` if the file can't be read, or isn't one on this
    /// machine, and ``HTTPError/Reason/decoding(_:)`` if it isn't what it was to be.
    @concurrent
    public func fetch() async throws -> Value {
        try Task.checkCancellation()
        let name = "file \(file.lastPathComponent)"
        let body: Data
        do {
            body = try await WholeFile(url: file).read()
        } catch {
            throw HTTPError(.transport(error), request: name)
        }
        return try read(body, name: name, response: nil, redacted: .standard)
    }
}

/// Reads a file at once, on a thread that may wait for a disk.
private actor WholeFile {
    private nonisolated let thread = FileThread("IDMHTTP.file")
    private let url: URL

    init(url: URL) {
        self.url = url
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func read() throws -> Data {
        // Foundation would fetch a remote URL, without any rule or limit.
        guard url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
        return try Data(contentsOf: url)
    }
}

/// A provider of what is in files. Its input is the resource.
public struct FileDataProvider<Resource: FileResource>: DataProvider {
    /// Makes a provider.
    public init(_ type: Resource.Type = Resource.self) {}

    /// Reads the file of a resource.
    public func request(_ resource: Resource) async throws -> Resource.Value {
        try await resource.fetch()
    }

    /// The files, by the type of the resource.
    public var structure: ProviderStructure { .provider("file: \(Resource.self) → \(Resource.Value.self)") }
}
