#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension ServiceHeaders {
    /// The header of a response of URLSession, for a transport. URLSession joins fields of one name; cookies, which
    /// can't be joined, are taken apart again: at each comma with a space behind it, unless that stands between quotes
    /// or in a date.
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
    /// Separates cookies that were joined into one text. A comma and a space separate two of them, except between
    /// quotes and after the day of the week in `Expires`: URLSession never joins with a comma alone. A value that
    /// contains both is cut there, which is better than changing the cookie before a nameless one.
    ///
    /// The run time is linear in the length of the text, because all exchanges of a session wait for it.
    func separateCookies() -> [String] {
        var cookies: [String] = []
        var start = startIndex
        var place = startIndex
        // Where the attribute begins that is read. Nil while it is the name and the value.
        var attribute: Int?
        while place < endIndex {
            switch self[place] {
            case UInt8(ascii: "="):
                place = endOfQuotes(place + 1)
            case UInt8(ascii: ";"):
                place += 1
                attribute = place
            case UInt8(ascii: ",")
            where self[(place + 1)...].first == UInt8(ascii: " ")
                && attribute.map { self[$0..<place].isDayOfExpires } != true:
                cookies.append(String(decoding: self[start..<place], as: UTF8.self))
                start = place + 2
                place = start
                attribute = nil
            default: place += 1
            }
        }
        return cookies + [String(decoding: self[start...], as: UTF8.self)]
    }

    /// Returns the end of the quotes with which a value begins, or its beginning if it has no complete quotes.
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

extension Sequence<UInt8> {
    /// True for `Expires=` with the name of a day.
    fileprivate var isDayOfExpires: Bool {
        // No more of a hostile text is looked at than the longest of them has.
        let letters = lazy.filter { $0 != UInt8(ascii: " ") }.prefix("expires=wednesday".utf8.count + 1)
        let text = String(decoding: letters.map { $0 | 32 }, as: UTF8.self)
        return ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].contains { day in
            text.hasPrefix("expires=\(day)") && text.dropFirst(8).utf8.allSatisfy { $0 >= 97 && $0 <= 122 }
        }
    }
}
