public import Foundation
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

extension HTTPService {
    /// Sends a request and decodes the JSON of its response.
    ///
    /// ```swift
    /// let request = ServiceRequest(.get, "/users/{id}", pathParameters: ["id": 42])
    /// let user = try await service.request(request, as: User.self)
    /// ```
    ///
    /// The value may be at a key path of the body: `data.items`. Ends as ``request(_:)`` does, or with an ``HTTPError``
    /// that says where the body can't be read.
    public func request<Value: Decodable & Sendable>(
        _ request: ServiceRequest, as type: Value.Type, at keyPath: String? = nil, decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
        try await fetch(RequestedValue(request: request, rootKeyPath: keyPath, decoder: decoder))
    }

    /// A provider of one resource, for an integrator without input.
    ///
    /// ```swift
    /// let notes = Integrator(service.provider(GetNotes()))
    /// ```
    public func provider<Resource: HTTPResource>(_ resource: Resource) -> some DataProvider<Void, Resource.Value> {
        provider { (_: Void) in resource }
    }

    /// A provider that makes a resource of each input.
    ///
    /// ```swift
    /// let search = Integrator(service.provider { SearchRepos(text: $0) }, executing: .latest)
    /// ```
    public func provider<Input: Sendable, Resource: HTTPResource>(
        _ resource: @escaping @Sendable (Input) -> Resource
    ) -> some DataProvider<Input, Resource.Value> {
        provider(for: Resource.self).mapInput { (input: Input) in resource(input) }
    }
}

extension ServiceResponse {
    /// Decodes the JSON of the body, or of a key path in it: `data.tokens`. Throws an ``HTTPError/DecodingFault`` that
    /// says where the body can't be read.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, at keyPath: String? = nil, decoder: JSONDecoder = JSONDecoder()
    ) throws(HTTPError.DecodingFault) -> Value {
        do {
            return try decoder.decode(type, from: body, at: keyPath)
        } catch {
            throw HTTPError.DecodingFault(
                error, in: body, contentType: headers[.contentType], redacted: .standard)
        }
    }
}

private struct RequestedValue<Value: Decodable & Sendable>: DecodableResource {
    let request: ServiceRequest
    let rootKeyPath: String?
    let decoder: JSONDecoder
}
