internal import Foundation
internal import IDMCore

extension Error {
    /// The text of a caller's own error: its `errorDescription`, its `description`, or else the name of its type. Its
    /// contents aren't shown otherwise.
    var ownText: String {
        // The types are asked: a cast of the value makes an NSError of it, which describes everything.
        let isDescribed = type(of: self as Any) is any CustomStringConvertible.Type
        let text = (self as? any LocalizedError)?.errorDescription ?? (isDescribed ? "\(self)" : nil)
        return text.flatMap { $0.isEmpty ? nil : $0.escapedForDescription(limit: 300) } ?? typeName
    }

    /// The kind of an error without its contents: its text can quote a URL with secrets.
    var safeName: String {
        if let error = self as? HTTPError { return "\(error)" }
        if let fault = self as? TransportFault { return "\(fault)" }
        let error = self as NSError
        return "\(error.domain) \(error.code)"
    }
}
