import Foundation

/// What libFuzzer calls, with bytes that it has made up.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    subject(Input(Array(UnsafeBufferPointer(start: start, count: count))))
    return 0
}

/// What is tried, by its name in the environment.
private let subject: @Sendable (Input) -> Void = {
    let name = ProcessInfo.processInfo.environment["IDM_FUZZ"] ?? ""
    guard let subject = subjects[name] else {
        return { _ in fault("Set IDM_FUZZ to one of these: \(subjects.keys.sorted().joined(separator: " "))") }
    }
    return subject
}()

private let subjects: [String: @Sendable (Input) -> Void] = [
    "paths": PathSubject.check, "headers": HeaderSubject.check, "multipart": MultipartSubject.check,
    "events": EventSubject.check, "keypaths": KeyPathSubject.check, "requests": RequestSubject.check,
]

/// Ends the program where something is wrong, so that libFuzzer keeps what led to it.
func fault(_ message: String) -> Never {
    fatalError(message)
}

/// Ends the program unless something is right.
func expect(_ isRight: Bool, _ message: @autoclosure () -> String) {
    if !isRight { fault(message()) }
}
