// All operators of the package. `a >>>> b >><< c` sends the output of `a` to `b` and `c`, which run at the same time.

/// Binds looser than a group, so that groups inside of a sequence need no parentheses, and tighter than a cast, so that
/// `flag ? a >>>> b : c`, `a >>>> b ?? c` and `a >>>> b as any DataProvider<Int, Int>` have their expected meaning.
precedencegroup DataProviderSequencePrecedence {
    associativity: left
    higherThan: CastingPrecedence
}

/// Binds tighter than a sequence.
precedencegroup DataProviderGroupPrecedence {
    associativity: left
    higherThan: DataProviderSequencePrecedence
}

infix operator >>>> : DataProviderSequencePrecedence
infix operator >><< : DataProviderGroupPrecedence

// MARK: - Sequences

/// Returns a sequence of two providers: the output of the first is the input of the second.
///
/// See ``SequenceDataProvider``. A chain may have any length. More than four inline closures without a parameter type
/// exceed the type checker: write `{ (value: Int) in … }`, or name a part of the chain with `let`.
@inlinable
public func >>>> <First: DataProvider, Second: DataProvider>(
    first: First, second: Second
) -> SequenceDataProvider<First, Second> where First.Output == Second.Input {
    SequenceDataProvider(first, second)
}

/// Returns a sequence of a provider and the model that is made from its answer. The same as
/// ``DataProvider/model(_:parsing:)``.
public func >>>> <First: DataProvider, Model: DataModel>(
    first: First, model: Model.Type
) -> SequenceDataProvider<First, ModelDataProvider<Model>> where First.Output == Model.Source {
    first.model(model)
}

/// Returns a sequence of a provider and a closure that takes its answer. The closure is a stage of its own, see
/// ``ClosureDataProvider``.
@inlinable
public func >>>> <First: DataProvider, Output: Sendable>(
    first: First, body: @escaping @Sendable (First.Output) async throws -> Output
) -> SequenceDataProvider<First, ClosureDataProvider<First.Output, Output>> {
    SequenceDataProvider(first, ClosureDataProvider(body))
}

// MARK: - Groups

// One overload for each arity: an operator that extends a parameter pack is resolved wrongly from the fourth operand on
// (Swift 6.3). ``DataProvider/combined(with:)`` has the same overloads.

/// Returns a group of two providers: the inputs are one tuple, and so are the outputs.
///
/// See ``GroupDataProvider``. A group on the left is extended, also if it comes from a `let`, so that the tuples stay
/// flat; ``GroupDataProvider/grouped()`` keeps it whole. A group on the right is one member. A group of more than eight
/// is made with the initializer.
public func >><< <A: DataProvider, B: DataProvider>(first: A, second: B) -> GroupDataProvider<A, B> {
    GroupDataProvider(first, second)
}

extension GroupDataProvider {
    fileprivate func appending<Next: DataProvider>(_ next: Next) -> GroupDataProvider<repeat each Member, Next> {
        GroupDataProvider<repeat each Member, Next>(repeat each members, next)
    }
}

/// Returns a group of three: the group on the left with one more member.
public func >><< <A, B, C: DataProvider>(
    group: GroupDataProvider<A, B>, next: C
) -> GroupDataProvider<A, B, C> { group.appending(next) }

/// Returns a group of four: the group on the left with one more member.
public func >><< <A, B, C, D: DataProvider>(
    group: GroupDataProvider<A, B, C>, next: D
) -> GroupDataProvider<A, B, C, D> { group.appending(next) }

/// Returns a group of five: the group on the left with one more member.
public func >><< <A, B, C, D, E: DataProvider>(
    group: GroupDataProvider<A, B, C, D>, next: E
) -> GroupDataProvider<A, B, C, D, E> { group.appending(next) }

/// Returns a group of six: the group on the left with one more member.
public func >><< <A, B, C, D, E, F: DataProvider>(
    group: GroupDataProvider<A, B, C, D, E>, next: F
) -> GroupDataProvider<A, B, C, D, E, F> { group.appending(next) }

/// Returns a group of seven: the group on the left with one more member.
public func >><< <A, B, C, D, E, F, G: DataProvider>(
    group: GroupDataProvider<A, B, C, D, E, F>, next: G
) -> GroupDataProvider<A, B, C, D, E, F, G> { group.appending(next) }

/// Returns a group of eight: the group on the left with one more member.
public func >><< <A, B, C, D, E, F, G, H: DataProvider>(
    group: GroupDataProvider<A, B, C, D, E, F, G>, next: H
) -> GroupDataProvider<A, B, C, D, E, F, G, H> { group.appending(next) }

/// Returns nothing that can be used, because a ninth operand would nest the tuples.
///
/// Not `unavailable`: the compiler would then choose the overload for two operands.
@available(*, deprecated, message: "A group of more than eight is made with GroupDataProvider(a, b, c, …).")
public func >><< <A, B, C, D, E, F, G, H, I: DataProvider>(
    group: GroupDataProvider<A, B, C, D, E, F, G, H>, next: I
) -> _GroupsByOperatorEndAtEight { _GroupsByOperatorEndAtEight() }

/// The result of `>><<` beyond eight operands. Not a provider.
public struct _GroupsByOperatorEndAtEight: Sendable {}

// MARK: - Spelled groups

extension DataProvider {
    /// Returns a group of this provider and `next`. The same as `self >><< next`: a group is extended, up to eight
    /// members.
    public func combined<Next: DataProvider>(with next: Next) -> GroupDataProvider<Self, Next> { self >><< next }

    /// Returns a group of three: this group with one more member.
    public func combined<A, B, C: DataProvider>(with next: C) -> GroupDataProvider<A, B, C>
    where Self == GroupDataProvider<A, B> { self >><< next }

    /// Returns a group of four: this group with one more member.
    public func combined<A, B, C, D: DataProvider>(with next: D) -> GroupDataProvider<A, B, C, D>
    where Self == GroupDataProvider<A, B, C> { self >><< next }

    /// Returns a group of five: this group with one more member.
    public func combined<A, B, C, D, E: DataProvider>(with next: E) -> GroupDataProvider<A, B, C, D, E>
    where Self == GroupDataProvider<A, B, C, D> { self >><< next }

    /// Returns a group of six: this group with one more member.
    public func combined<A, B, C, D, E, F: DataProvider>(with next: F) -> GroupDataProvider<A, B, C, D, E, F>
    where Self == GroupDataProvider<A, B, C, D, E> { self >><< next }

    /// Returns a group of seven: this group with one more member.
    public func combined<A, B, C, D, E, F, G: DataProvider>(with next: G) -> GroupDataProvider<A, B, C, D, E, F, G>
    where Self == GroupDataProvider<A, B, C, D, E, F> { self >><< next }

    /// Returns a group of eight: this group with one more member.
    public func combined<A, B, C, D, E, F, G, H: DataProvider>(with next: H) -> GroupDataProvider<
        A, B, C, D, E, F, G, H
    >
    where Self == GroupDataProvider<A, B, C, D, E, F, G> { self >><< next }
}
