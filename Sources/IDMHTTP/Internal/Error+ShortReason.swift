internal import Foundation

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
