/// The actor that the caller runs on, by name. Nil stands for no actor.
///
/// Kept out of line: asked in place, `#isolation` makes the optimizer of Swift 6.3 fail.
@inline(never)
func here(_ caller: (any Actor)? = #isolation) -> ObjectIdentifier? {
    caller.map { ObjectIdentifier($0) }
}
