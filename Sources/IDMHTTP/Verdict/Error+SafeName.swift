internal import Foundation

extension Error {
    /// What kind of an error it is, without anything of what it holds: its text may quote a URL with all that is secret
    /// in it.
    var safeName: String {
        if let error = self as? HTTPError { return "\(error)" }
        if let fault = self as? TransportFault { return "\(fault)" }
        let error = self as NSError
        return "\(error.domain) \(error.code)"
    }
}
