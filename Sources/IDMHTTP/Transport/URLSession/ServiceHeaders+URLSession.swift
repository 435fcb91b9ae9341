#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension ServiceHeaders {
    /// The header of a response of URLSession, for a transport. URLSession joins fields of one name; cookies, which
    /// can't be joined, are taken apart again. A comma with a space, a name and a `=` behind it, which no cookie's
    /// value may hold, is taken for the end of a cookie; unless it stands between quotes.
    public init(_ response: HTTPURLResponse) {
        self.init(separating: Self.fields(of: response))
    }

    /// The same, unless it is longer than a limit.
    init?(_ response: HTTPURLResponse, limit: Int) {
        let fields = Self.fields(of: response)
        // Before anything is made of it. Joined, fields are shorter than they came.
        guard Self.length(of: fields) <= limit else { return nil }
        self.init(separating: fields)
        guard Self.length(of: self) <= limit else { return nil }
    }

    private init(separating fields: [Field]) {
        let fields = fields.flatMap { field in
            guard field.name == .setCookie else { return [field] }
            return Array(field.value.utf8).separateCookies().map { Field(field.name, $0) }
        }
        self.init(fields.sorted { $0.name.spelling < $1.name.spelling })
    }

    private static func fields(of response: HTTPURLResponse) -> [Field] {
        response.allHeaderFields.compactMap { name, value in
            guard let name = name as? String, let value = value as? String else { return nil }
            return Field(Name(name), value)
        }
    }

    private static func length(of fields: some Sequence<Field>) -> Int {
        fields.reduce(0) { $0 + $1.name.spelling.utf8.count + $1.value.utf8.count + 4 }
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The cookies that stand behind one another in a text. A comma and a space separate two of them where a name and a
    /// `=` follow: those in a date are followed by a day, and URLSession never joins with a comma alone.
    ///
    /// Each byte is looked at a few times, whatever a server sends: all exchanges of a session wait meanwhile.
    func separateCookies() -> [String] {
        var cookies: [String] = []
        var start = startIndex
        var place = startIndex
        var isInName = true
        while place < endIndex {
            switch self[place] {
            case UInt8(ascii: "=") where isInName:
                isInName = false
                place = endOfQuotes(place + 1)
            case UInt8(ascii: ",") where beginsCookie(behind: place):
                cookies.append(String(decoding: self[start..<place], as: UTF8.self))
                start = place + 2
                place = start
                isInName = true
            default: place += 1
            }
        }
        return cookies + [String(decoding: self[start...], as: UTF8.self)]
    }

    /// Whether a space, a name and a `=` are behind a comma.
    private func beginsCookie(behind comma: Int) -> Bool {
        let next = self[(comma + 1)...]
        guard next.first == UInt8(ascii: " ") else { return false }
        let name = next.dropFirst().prefix(while: ByteSet.token.contains)
        return !name.isEmpty && self[name.endIndex...].first == UInt8(ascii: "=")
    }

    /// Where a value goes on behind the quotes that it begins with. Where it begins, if it has none or isn't in them to
    /// its end.
    private func endOfQuotes(_ place: Int) -> Int {
        let quote = UInt8(ascii: "\"")
        let value = self[place...]
        guard value.first == quote,
            let end = value.dropFirst().firstIndex(where: { $0 == quote || $0 == UInt8(ascii: ";") }),
            self[end] == quote
        else { return place }
        return end + 1
    }
}
