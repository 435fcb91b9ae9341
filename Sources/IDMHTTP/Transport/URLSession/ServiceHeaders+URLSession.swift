internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension ServiceHeaders {
    /// The header of a response. URLSession joins fields of one name; cookies, which can't be joined, are taken apart again.
    init(_ response: HTTPURLResponse) {
        var headers: [Field] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            let values = name.lowercased() == "set-cookie" ? value.separateCookies() : [value]
            headers += values.map { Field(Name(name), $0) }
        }
        self.init(headers.sorted { $0.name.spelling < $1.name.spelling })
    }
}

extension String {
    /// The cookies that stand behind one another in a text. A comma separates two of them where a name and a `=` follow; the
    /// one in a date is followed by a day.
    fileprivate func separateCookies() -> [String] {
        var cookies: [String] = []
        var rest = self[...]
        var searched = rest.startIndex
        while let comma = rest[searched...].firstIndex(of: ",") {
            let next = rest[rest.index(after: comma)...].drop { $0 == " " }
            let name = next.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
            if !name.isEmpty, name.endIndex < next.endIndex, next[name.endIndex] == "=" {
                cookies.append(String(rest[..<comma]))
                rest = next
                searched = next.startIndex
            } else {
                searched = rest.index(after: comma)
            }
        }
        return cookies + [String(rest)]
    }
}

extension URLRequest {
    /// What is sent, without its body.
    init(_ request: TransportRequest) {
        self.init(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        httpMethod = request.method.name
        httpShouldHandleCookies = false
        // Ours is kept above, to the millisecond. This one counts whole seconds.
        timeoutInterval = URLSessionTransport.longestTime
        for name in request.headers.distinctNames {
            let values = request.headers.values(of: name)
            setValue(values.joined(separator: name == "Cookie" ? "; " : ", "), forHTTPHeaderField: name.spelling)
        }
    }
}

extension ServiceHeaders {
    /// The names, each once, as it is written first.
    fileprivate var distinctNames: [Name] {
        var seen: Set<Name> = []
        return map(\.name).filter { seen.insert($0).inserted }
    }
}
