public import Foundation
public import IDMCore

/// What is in a file, with how to read it: the same reading as for a server, over a bundled or a local file.
///
/// ```swift
/// struct BundledCities: FileResource, DecodableReading {
///     typealias Value = [City]
///     var file: URL { bundle.url(forResource: "cities", withExtension: "json")! }
/// }
/// let cities = try await BundledCities().fetch()
/// ```
public protocol FileResource<Value>: ResourceReading {
    /// Where the file is.
    var file: URL { get }
}

extension FileResource {
    /// Reads the file, away from the caller's actor.
    ///
    /// Throws an ``HTTPError``: ``HTTPError/Reason/transport(_:)`` if the file can't be read, and
    /// ``HTTPError/Reason/decoding(_:)`` if it isn't what it was to be.
    @concurrent
    public func fetch() async throws -> Value {
        try Task.checkCancellation()
        let name = "file \(file.lastPathComponent)"
        let body: Data
        do {
            body = try Data(contentsOf: file)
        } catch {
            throw HTTPError(.transport(error), request: name)
        }
        return try read(body, name: name, response: nil, redacted: .standard)
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

extension ResourceReading {
    /// Makes the value, or an error that says where and why it can't be made.
    func read(
        _ body: Data, name: String, response: ServiceResponse?, redacted redaction: ServiceRedaction
    ) throws -> Value {
        do {
            return try value(from: body)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let fault = HTTPError.DecodingFault(error, in: body, redacted: redaction)
            throw HTTPError(.decoding(fault), request: name, response: response)
        }
    }
}
