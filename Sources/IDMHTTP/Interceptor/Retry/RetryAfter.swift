internal import Foundation

/// The delay that a server asks for in `Retry-After`.
enum RetryAfter {
    /// The wait that a response asks for. Nil if it asks for none, or in a way that can't be understood.
    ///
    /// - Parameter now: Seconds since 1970, for a response that doesn't say when it was made.
    static func wait(_ headers: ServiceHeaders, now: Int) -> Duration? {
        guard let text = headers.values(of: .retryAfter).first?.trimmingCharacters(in: .whitespaces) else { return nil }
        if text.consists(of: .digits) {
            // What no number can hold is longer than anybody waits.
            return .seconds(min(Int64(text) ?? .max, 3_155_760_000))
        }
        guard let date = HTTPDate(text) else { return nil }
        // By the server's own clock, so that it doesn't matter how far ours is from it.
        let start = headers.values(of: .date).first.flatMap(HTTPDate.init)?.seconds ?? now
        return .seconds(max(date.seconds - start, 0))
    }
}
