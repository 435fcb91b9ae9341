public import IDMCore

extension HTTPService {
    /// Fetches a resource.
    ///
    /// Ends as ``request(_:)`` does, or with an ``HTTPError`` that says where the body can't be read.
    public func fetch<Resource: HTTPResource>(_ resource: Resource) async throws -> Resource.Value {
        let request = resource.request
        let response = try await self.request(request, rules: resource.rules)
        let trip = LibraryTask.beginActivity()
        defer { trip?.endActivity() }
        return try await read(response, of: resource, request)
    }

    /// A provider of resources of a type. Its input is the resource.
    public func provider<Resource: HTTPResource>(
        for type: Resource.Type
    ) -> some DataProvider<Resource, Resource.Value> {
        ResourceDataProvider<Resource>(service: self)
    }

    @concurrent
    private func read<Resource: HTTPResource>(
        _ response: ServiceResponse, of resource: Resource, _ request: ServiceRequest
    ) async throws -> Resource.Value {
        try Task.checkCancellation()
        return try resource.read(
            response.body, name: request.description(redacted: configuration.redaction), response: response,
            redacted: configuration.redaction)
    }
}

private struct ResourceDataProvider<Resource: HTTPResource>: DataProvider {
    let service: HTTPService

    func request(_ resource: Resource) async throws -> Resource.Value {
        try await service.fetch(resource)
    }

    var structure: ProviderStructure {
        .wrapping(service.structure, in: "resource: \(Resource.self) → \(Resource.Value.self)")
    }
}
