extension ServiceConfiguration {
    /// Checks a request and makes it ready to travel: joined to the base URL, with the service's header below its own.
    ///
    /// - Returns: What a transport gets.
    /// - Throws: What is wrong with the request, or with the configuration.
    public func resolve(_ request: ServiceRequest) throws(ServiceRequest.Fault) -> TransportRequest {
        try request.method.check()
        let path = try PathTemplate(request.path).filled(with: request.pathParameters)
        let base = try base.get()
        let query = request.query.encodedForURL()
        let url =
            if let link = request.link, request.isAbsolute {
                try BaseURL.address(link, query: query)
            } else if let link = request.link {
                try base.following(link, from: baseURL, query: query)
            } else {
                try base.joined(path: path, query: query)
            }
        try headers.check()
        try request.headers.check()
        if let deadline = request.totalTimeout ?? totalTimeout, deadline <= .zero { throw .time("total time-out") }
        let timeout = request.idleTimeout ?? idleTimeout
        guard timeout > .zero else { throw .time("idle time-out") }
        let isForeign = request.isAbsolute && request.origin(in: self) != base.origin
        let secrets = [redaction, .standard]
        let own = ServiceHeaders(
            headers.filter { field in !isForeign || !secrets.contains { $0.isBoundToOrigin(field) } })
        var resolved = TransportRequest(
            request.method, url, headers: own, timeout: timeout, cachePolicy: request.cachePolicy ?? cachePolicy,
            limits: limits)
        resolved.skipsCache = request.skipsCache
        resolved.secretNames = request.query.secretNames
        resolved.pathParameters = request.pathParameters
        if let didSend = request.didSend { resolved.didSend = didSend }
        if let body = request.body {
            guard request.method.allowsBody else { throw .unexpectedBody(request.method) }
            if case .multipart = body.kind, request.headers[.contentType] != nil {
                throw .body(.contentTypeOfMultipart)
            }
            do throws(RequestBody.Fault) {
                let encoded = try body.encoded()
                resolved.body = request.didEncode?(encoded) ?? encoded
            } catch {
                throw .body(error)
            }
            resolved.headers[.contentType] = body.contentType
        }
        resolved.headers = resolved.headers.merging(request.headers)
        return resolved
    }
}
