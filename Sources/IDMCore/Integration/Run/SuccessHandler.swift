/// A handler of values, of which only the type of the value is not known. An object, so that all handlers are of one
/// small size, and a copy costs one retain.
protocol SuccessHandler: AnyObject, Sendable {
    /// The actor that the handler was written on.
    var isolation: (any Actor)? { get }

    func hear(_ value: any Sendable) async
}

@usableFromInline
final class TypedSuccessHandler<Output: Sendable>: SuccessHandler {
    @usableFromInline let handler: @isolated(any) @Sendable (Output) -> Void

    @inlinable
    init(handler: @escaping @isolated(any) @Sendable (Output) -> Void) {
        self.handler = handler
    }

    var isolation: (any Actor)? { handler.isolation }

    // Inlined into the witness, through which alone it is called: one async frame less.
    @inline(__always)
    func hear(_ value: any Sendable) async {
        // Calls of one output tell handlers of that output only; an optional of it would cost a look for its type.
        await handler(value as! Output)
    }
}
