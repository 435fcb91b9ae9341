#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension ServiceHeaders {
    /// The header of a response of URLSession, for a transport. URLSession joins fields of one name; cookies, which
    /// can't be joined, are taken apart again. A comma with a name and a `=` behind it, which no cookie's value may hold,
    /// is taken for the end of a cookie.
    public init(_ response: HTTPURLResponse) {
        var headers: [Field] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            let values = Name(name) == .setCookie ? value.separateCookies() : [value]
            headers += values.map { Field(Name(name), $0) }
        }
        self.init(headers.sorted { $0.name.spelling < $1.name.spelling })
    }
}

extension String {
    /// The cookies that stand behind one another in a text. A comma separates two of them where a name and a `=`
    /// follow; the one in a date is followed by a day.
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
