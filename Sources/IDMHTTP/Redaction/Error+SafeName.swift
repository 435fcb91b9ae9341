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

extension Error {
    /// The reason of an error in a few words, without the paths that Foundation adds to its sentences.
    var shortReason: String {
        guard let error = self as? CocoaError else { return "\(self)".escapedForDescription() }
        return switch error.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "there is no permission to read it"
        case .fileReadUnsupportedScheme: "it isn't a file URL"
        case .fileReadUnknown: "it isn't a plain file that can be read"
        default: "Cocoa error \(error.code.rawValue)"
        }
    }
}
