/// A handler, and what it hears. A watcher stands among them, and hears everything in another way.
enum HandlerSignal: Sendable {
    case beginning(@isolated(any) @Sendable () -> Void)
    case progress(@isolated(any) @Sendable (IntegrationProgress) -> Void)
    case retry(@isolated(any) @Sendable (Int, any Error) -> Void)
    case success(any SuccessHandler)
    case error(@isolated(any) @Sendable (any Error) -> Void)
    case cancel(@isolated(any) @Sendable (CancelReason) -> Void)
    case completion(@isolated(any) @Sendable () -> Void)
    case watch(any CallObserver)

    var kind: HandlerKinds {
        switch self {
        case .beginning: .beginning
        case .progress: .progress
        case .retry: .retry
        case .success: .success
        case .error: .error
        case .cancel: .cancel
        case .completion: .completion
        case .watch: .watch
        }
    }

    /// The actor that the handler was written on.
    var isolation: (any Actor)? {
        switch self {
        case .beginning(let handler): handler.isolation
        case .progress(let handler): handler.isolation
        case .retry(let handler): handler.isolation
        case .success(let handler): handler.isolation
        case .error(let handler): handler.isolation
        case .cancel(let handler): handler.isolation
        case .completion(let handler): handler.isolation
        case .watch: nil
        }
    }

    /// Lets the handler hear its part of an outcome, if it has one.
    @inline(__always)
    func hear(_ outcome: CallState.Outcome) async {
        switch self {
        case .success(let handler): if case .success(let value) = outcome { await handler.hear(value) }
        case .error(let handler): if case .failure(let error) = outcome { await handler(error) }
        case .cancel(let handler): if case .cancelled(let reason) = outcome { await handler(reason) }
        case .completion(let handler): await handler()
        case .beginning, .progress, .retry, .watch: break
        }
    }
}

/// Which kinds of handlers there are, to be asked quickly.
struct HandlerKinds: OptionSet, Sendable {
    let rawValue: UInt8

    static let beginning = HandlerKinds(rawValue: 1)
    static let progress = HandlerKinds(rawValue: 2)
    static let retry = HandlerKinds(rawValue: 4)
    static let success = HandlerKinds(rawValue: 8)
    static let error = HandlerKinds(rawValue: 16)
    static let cancel = HandlerKinds(rawValue: 32)
    static let completion = HandlerKinds(rawValue: 64)
    static let watch = HandlerKinds(rawValue: 128)
}
