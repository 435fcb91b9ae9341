#if !canImport(SwiftUI)
/// As much of SwiftUI as the samples show, for platforms that don't have it. That they compile is all that is asked.
extension Surroundings {
    @MainActor
    protocol View {}

    struct List<Element, ID: Hashable, Row: View>: View {
        init(_ elements: [Element], id: KeyPath<Element, ID>, row: (Element) -> Row) {}
    }

    struct Text: View {
        init(_ text: String) {}
    }

    struct ProgressView: View {}

    @resultBuilder
    enum ViewBuilder {
        static func buildBlock<Content>(_ content: Content) -> Content { content }
        static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    }

    @propertyWrapper
    struct State<Value> {
        var wrappedValue: Value
    }
}

extension Surroundings.View {
    func overlay<Overlay: Surroundings.View>(@Surroundings.ViewBuilder content: () -> Overlay?) -> Self { self }
    func task(id: some Equatable, action: @escaping @MainActor () async -> Void) -> Self { self }
}
#endif
