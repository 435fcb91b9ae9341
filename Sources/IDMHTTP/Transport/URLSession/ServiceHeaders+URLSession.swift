#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension ServiceHeaders {
    /// The header of a response of URLSession, for a transport. URLSession joins fields of one name; cookies, which
    /// can't be joined, are taken apart again. A comma with a space, a name and a `=` behind it, which no cookie's value
    /// may hold, is taken for the end of a cookie; unless it stands between quotes.
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
    /// The cookies that stand behind one another in a text. A comma and a space separate two of them where a name and a
    /// `=` follow: those in a date are followed by a day, and URLSession never joins with a comma alone.
    fileprivate func separateCookies() -> [String] {
        var cookies: [String] = []
        var rest = self[...]
        var searched = rest.startIndex
        while let comma = rest[searched...].firstRange(of: ", ") {
            let next = rest[comma.upperBound...]
            let name = next.prefix { $0 != "=" }
            if name.consists(of: .token), name.endIndex < next.endIndex, !isQuoted(rest, at: comma) {
                cookies.append(String(rest[..<comma.lowerBound]))
                rest = next
            }
            searched = comma.upperBound
        }
        return cookies + [String(rest)]
    }

    /// Whether a place in a cookie is inside of a value that stands between quotes.
    private func isQuoted(_ cookie: Substring, at place: Range<Index>) -> Bool {
        let value = cookie[..<place.lowerBound].drop { $0 != "=" }.dropFirst()
        return value.first == "\"" && !value.dropFirst().contains { $0 == "\"" || $0 == ";" }
            && cookie[place.upperBound...].prefix { $0 != ";" }.contains("\"")
    }
}
