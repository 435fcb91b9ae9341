internal import Foundation

extension Error {
    /// What an error of the caller's own says of itself: its `errorDescription`, its `description`, or else the name of
    /// its type. What it holds isn't shown unless it says so.
    var ownText: String {
        // The types are asked: a cast of the value makes an NSError of it, which describes everything.
        let isDescribed = type(of: self) is any CustomStringConvertible.Type
        let text = (self as? any LocalizedError)?.errorDescription ?? (isDescribed ? "\(self)" : nil)
        return text.flatMap { $0.isEmpty ? nil : $0.escapedForDescription(limit: 300) } ?? "\(type(of: self))"
    }

    /// What kind of an error it is, without anything of what it holds: its text may quote a URL with all that is secret
    /// in it.
    var safeName: String {
        if let error = self as? HTTPError { return "\(error)" }
        if let fault = self as? TransportFault { return "\(fault)" }
        let error = self as NSError
        return "\(error.domain) \(error.code)"
    }
}
