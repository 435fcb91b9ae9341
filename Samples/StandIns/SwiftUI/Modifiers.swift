public enum Edge {
    public enum Set { case all, top, bottom }
    public enum Vertical { case top, bottom }
}

extension View {
    public func overlay<Content: View>(@ViewBuilder content: () -> Content) -> some View { ModifiedView() }
    public func safeAreaInset<Content: View>(
        edge: Edge.Vertical, @ViewBuilder content: () -> Content
    ) -> some View { ModifiedView() }
    public func padding(_ edges: Edge.Set = .all) -> some View { ModifiedView() }
    public func disabled(_ isDisabled: Bool) -> some View { ModifiedView() }
    public func navigationTitle(_ title: String) -> some View { ModifiedView() }
    public func navigationDestination<Data: Hashable, Content: View>(
        for data: Data.Type, @ViewBuilder destination: @escaping (Data) -> Content
    ) -> some View { ModifiedView() }
    public func searchable(text: Binding<String>) -> some View { ModifiedView() }
    public func alert<Actions: View>(
        _ title: String, isPresented: Binding<Bool>, @ViewBuilder actions: () -> Actions
    ) -> some View { ModifiedView() }

    public func onAppear(perform action: (() -> Void)? = nil) -> some View { ModifiedView() }
    public func onDisappear(perform action: (() -> Void)? = nil) -> some View { ModifiedView() }
    public func onSubmit(_ action: @escaping () -> Void) -> some View { ModifiedView() }
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (_ old: Value, _ new: Value) -> Void
    ) -> some View { ModifiedView() }
    public func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some View { ModifiedView() }

    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View {
        ModifiedView()
    }
    public func task<ID: Equatable>(
        id: ID, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { ModifiedView() }
    public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { ModifiedView() }
}
