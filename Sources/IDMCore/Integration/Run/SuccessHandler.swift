/// A handler of values, of which only the type of the value is not known.
protocol SuccessHandler: Sendable {
    /// The actor that the handler was written on.
    var isolation: (any Actor)? { get }

    func hear(_ value: any Sendable) async
}

struct TypedSuccessHandler<Output: Sendable>: SuccessHandler {
    let handler: @isolated(any) @Sendable (Output) -> Void

    var isolation: (any Actor)? { handler.isolation }

    func hear(_ value: any Sendable) async {
        // Calls of one output tell handlers of that output only; an optional of it would cost a look for its type.
        await handler(value as! Output)
    }
}
