/// Where a model is made from its source.
public struct ModelParsing: Sendable, Hashable {
    enum Kind: Sendable { case concurrent, inline }

    let kind: Kind

    /// Off the caller's actor, whichever it is. The default: a big answer never holds up a screen.
    public static let concurrent = ModelParsing(kind: .concurrent)

    /// On the caller's actor, in the turn in which the answer came. For models that cost next to nothing, and for
    /// values that have to show without a turn between.
    public static let inline = ModelParsing(kind: .inline)
}
