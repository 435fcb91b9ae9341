/// Returns the actor that the caller runs on.
///
/// Not inlined: used in place, `#isolation` crashes the optimizer of Swift 6.3 in large functions.
@inline(never)
func currentIsolation(_ isolation: (any Actor)? = #isolation) -> (any Actor)? {
    isolation
}
