// As much of SwiftUI as the samples use, so that they are type-checked where SwiftUI doesn't exist. Nothing is drawn.
// The isolation and the result builders are those of the real framework.

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("A stand-in has no body.") }
}

/// A view of the stand-ins, which has no body.
@MainActor @preconcurrency
public protocol Leaf: View where Body == Never {}

extension Leaf {
    public var body: Never { fatalError("A stand-in has no body.") }
}

public struct EmptyView: Leaf {
    nonisolated public init() {}
}

public struct TupleView: Leaf {
    nonisolated init() {}
}

public struct ModifiedView: Leaf {
    nonisolated init() {}
}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("A stand-in has no body.") }
}

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<First: View, Second: View, each Rest: View>(
        _ first: First, _ second: Second, _ rest: repeat each Rest
    ) -> TupleView { TupleView() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<Content: View>(first: Content) -> ModifiedView { ModifiedView() }
    public static func buildEither<Content: View>(second: Content) -> ModifiedView { ModifiedView() }
}

@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@MainActor @preconcurrency
public protocol Scene {}

@resultBuilder
public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup: Scene {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

/// The previews of a file.
@MainActor @preconcurrency
public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder static var previews: Previews { get }
}
