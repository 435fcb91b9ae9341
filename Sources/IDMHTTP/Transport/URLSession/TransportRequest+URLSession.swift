#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension TransportRequest {
    /// The request as clients of URLSession take it, without its body, for a transport over one of them.
    ///
    /// It asks for no cookies and no cache, and its time-out is beyond all measure: the service keeps the time.
    public var urlRequest: URLRequest {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpMethod = method.name
        request.httpShouldHandleCookies = false
        request.timeoutInterval = TransportSession.longestTime
        for name in headers.distinctNames {
            let separator = name == "Cookie" ? "; " : ", "
            request.setValue(headers.values(of: name).joined(separator: separator), forHTTPHeaderField: name.spelling)
        }
        if isForPart, headers["Accept-Encoding"] == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        return request
    }
}

extension ServiceHeaders {
    /// The names, each once, as it is written first.
    fileprivate var distinctNames: [Name] {
        var seen: Set<Name> = []
        return map(\.name).filter { seen.insert($0).inserted }
    }
}
