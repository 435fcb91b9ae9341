// All operators of the package. `a >>>> b >><< c` reads: the output of `a` goes to `b` and `c`, which run together.

/// Binds looser than a group, so that groups need no parentheses inside of a sequence, and tighter than a cast, so that
/// `flag ? a >>>> b : c`, `a >>>> b ?? c` and `a >>>> b as any DataProvider<Int, Int>` mean what they seem to mean.
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

/// One provider after another: the output of the first is the input of the second.
///
/// See ``SequenceDataProvider``. A chain may be as long as it needs to be. Only closures are dear to the compiler: more
/// than four that are written inline without a type for their parameter exceed the type checker. Write
/// `{ (value: Int) in … }`, or give a part of the chain a name with `let`.
@inlinable
public func >>>> <First: DataProvider, Second: DataProvider>(
    first: First, second: Second
) -> SequenceDataProvider<First, Second> where First.Output == Second.Input {
    SequenceDataProvider(first, second)
}

/// A provider and the model that is made from its answer. The same as ``DataProvider/model(_:parsing:)``.
@inlinable
public func >>>> <First: DataProvider, Model: DataModel>(
    first: First, model: Model.Type
) -> SequenceDataProvider<First, ModelDataProvider<Model>> where First.Output == Model.Source {
    SequenceDataProvider(first, ModelDataProvider(model))
}

/// A provider and a closure that takes its answer. The closure is a stage of its own, see ``ClosureDataProvider``.
@inlinable
public func >>>> <First: DataProvider, Output: Sendable>(
    first: First, body: @escaping @Sendable (First.Output) async throws -> Output
) -> SequenceDataProvider<First, ClosureDataProvider<First.Output, Output>> {
    SequenceDataProvider(first, ClosureDataProvider(body))
}

// MARK: - Groups

// One overload an arity: an operator that grows a parameter pack is resolved wrongly from the fourth operand on.

/// Both providers at the same time: the inputs go in as a tuple, the outputs come out as one.
///
/// See ``GroupDataProvider``. A group on the left is extended, whether it is written out or comes from a `let`, so the
/// tuples stay flat; ``GroupDataProvider/grouped()`` keeps it whole. A group on the right is one member. Beyond twelve
/// members use the initializer, which takes any number.
@inlinable
public func >><< <A: DataProvider, B: DataProvider>(first: A, second: B) -> GroupDataProvider<A, B> {
    GroupDataProvider(first, second)
}

/// A group of three: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider
>(
    group: GroupDataProvider<A, B>, next: C
) -> GroupDataProvider<A, B, C> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, next)
}

/// A group of four: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider
>(
    group: GroupDataProvider<A, B, C>, next: D
) -> GroupDataProvider<A, B, C, D> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, next)
}

/// A group of five: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider
>(
    group: GroupDataProvider<A, B, C, D>, next: E
) -> GroupDataProvider<A, B, C, D, E> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, next)
}

/// A group of six: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E>, next: F
) -> GroupDataProvider<A, B, C, D, E, F> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, next)
}

/// A group of seven: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F>, next: G
) -> GroupDataProvider<A, B, C, D, E, F, G> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, next)
}

/// A group of eight: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider, H: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F, G>, next: H
) -> GroupDataProvider<A, B, C, D, E, F, G, H> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, m.6, next)
}

/// A group of nine: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider, H: DataProvider, I: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F, G, H>, next: I
) -> GroupDataProvider<A, B, C, D, E, F, G, H, I> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, m.6, m.7, next)
}

/// A group of ten: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider, H: DataProvider, I: DataProvider, J: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F, G, H, I>, next: J
) -> GroupDataProvider<A, B, C, D, E, F, G, H, I, J> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, m.6, m.7, m.8, next)
}

/// A group of eleven: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider, H: DataProvider, I: DataProvider, J: DataProvider, K: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F, G, H, I, J>, next: K
) -> GroupDataProvider<A, B, C, D, E, F, G, H, I, J, K> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, m.6, m.7, m.8, m.9, next)
}

/// A group of twelve: the group on the left with one more member.
@inlinable
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider, H: DataProvider, I: DataProvider, J: DataProvider, K: DataProvider, L: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F, G, H, I, J, K>, next: L
) -> GroupDataProvider<A, B, C, D, E, F, G, H, I, J, K, L> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, m.6, m.7, m.8, m.9, m.10, next)
}

/// Would nest the tuples, so it isn't there.
@available(*, unavailable, message: "A group of more than twelve is made with GroupDataProvider(a, b, c, …).")
public func >><< <
    A: DataProvider, B: DataProvider, C: DataProvider, D: DataProvider, E: DataProvider, F: DataProvider,
    G: DataProvider, H: DataProvider, I: DataProvider, J: DataProvider, K: DataProvider, L: DataProvider,
    M: DataProvider
>(
    group: GroupDataProvider<A, B, C, D, E, F, G, H, I, J, K, L>, next: M
) -> GroupDataProvider<A, B, C, D, E, F, G, H, I, J, K, L, M> {
    let m = group.members
    return GroupDataProvider(m.0, m.1, m.2, m.3, m.4, m.5, m.6, m.7, m.8, m.9, m.10, m.11, next)
}
