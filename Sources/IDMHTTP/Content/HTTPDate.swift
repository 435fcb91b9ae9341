/// A date in one of the three formats of HTTP (RFC 9110, 5.6.7).
struct HTTPDate: Sendable, Equatable {
    /// Seconds since 1970.
    let seconds: Int

    init?(_ text: String) {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
        case 6 where words[5] == "GMT": self.init(day: words[1], words[2], year: words[3], words[4])
        // Sun Nov  6 08:49:37 1994
        case 5: self.init(day: words[2], words[1], year: words[4], words[3])
        default: return nil
        }
    }

    /// Reads the date of a cookie: its parts in any order, with anything between them (RFC 6265, 5.1.1).
    static func ofCookie(_ text: String) -> HTTPDate? {
        var (time, day, month, year) = (Substring?.none, Substring?.none, Substring?.none, Substring?.none)
        for word in text.split(whereSeparator: { !$0.isASCII || !$0.isLetter && !$0.isNumber && $0 != ":" }) {
            let digits = word.prefix { $0.isNumber }
            let name = String(word.prefix(3)).asciiLowercased()
            if word.contains(":") {
                time = time ?? word
            } else if day == nil, (1...2).contains(digits.count) {
                day = digits
            } else if month == nil, let found = Self.months.first(where: { $0.asciiLowercased() == name }) {
                month = found[...]
            } else if year == nil, (2...4).contains(digits.count) {
                year = digits
            }
        }
        guard let time, let day, let month, let year else { return nil }
        return HTTPDate(day: day, month, year: year, time)
    }

    private init?(day dayWord: Substring, _ month: Substring, year yearWord: Substring, _ time: Substring) {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map(Self.number)
        guard let day = Self.number(dayWord), var year = Self.number(yearWord), parts.count == 3,
            let hour = parts[0], let minute = parts[1], let second = parts[2],
            let month = Self.months.firstIndex(of: String(month)).map({ $0 + 1 }),
            day > 0, hour < 24, minute < 60, second <= 60
        else { return nil }
        // Two digits are of this century, unless that lies far ahead.
        if yearWord.count == 2 { year += year < 70 ? 2000 : 1900 }
        let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
        guard day <= Self.days(nextYear, nextMonth, 1) - Self.days(year, month, 1) else { return nil }
        seconds = ((Self.days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ word: Substring) -> Int? {
        word.count <= 4 && word.consists(of: .digits) ? Int(word) : nil
    }

    /// The days since 1970.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
