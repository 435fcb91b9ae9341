/// Whether an actor is the one that the caller runs on. Nil stands for no actor.
///
/// Kept out of line: compared in place, `#isolation` makes the optimizer of Swift 6.3 fail.
@inline(never)
func isHere(_ actor: (any Actor)?, _ caller: (any Actor)? = #isolation) -> Bool {
    actor === caller
}

/// The actor that the caller runs on, by name. Nil stands for no actor. Kept out of line as ``isHere(_:_:)`` is.
@inline(never)
func here(_ caller: (any Actor)? = #isolation) -> ObjectIdentifier? {
    caller.map { ObjectIdentifier($0) }
}
