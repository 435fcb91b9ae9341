public import IDMCore

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
