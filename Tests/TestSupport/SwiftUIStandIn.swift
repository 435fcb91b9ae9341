#if !canImport(Darwin)
/// As much of SwiftUI as samples show, for platforms that don't have it. That they compile is all that is asked.
public enum SwiftUIStandIn {
    @MainActor
    public protocol View {}

    public struct List<Element, ID: Hashable, Row: View>: View {
        public init(_ elements: [Element], id: KeyPath<Element, ID>, row: (Element) -> Row) {}
    }

    public struct Text: View {
        public init(_ text: String) {}
    }

    public struct ProgressView: View {
        public init(value: Double? = nil) {}
    }

    @resultBuilder
    public enum ViewBuilder {
        public static func buildBlock<Content>(_ content: Content) -> Content { content }
        public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    }

    @MainActor @propertyWrapper
    public final class State<Value> {
        public var wrappedValue: Value
        public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    }
}

extension SwiftUIStandIn.View {
    public func overlay<Overlay: SwiftUIStandIn.View>(
        @SwiftUIStandIn.ViewBuilder content: () -> Overlay?
    ) -> Self { self }

    public func disabled(_ disabled: Bool) -> Self { self }

    public func task(id: some Equatable, action: @escaping @MainActor () async -> Void) -> Self { self }
}
#endif
