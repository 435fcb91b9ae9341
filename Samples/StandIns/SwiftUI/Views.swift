public struct Text: Leaf {
    public init(_ text: some StringProtocol) {}
}

public struct Image: Leaf {
    public init(systemName: String) {}
}

public struct Label: Leaf {
    public init(_ title: String, systemImage: String) {}
}

public struct ProgressView: Leaf {
    public init() {}
    public init(_ title: String) {}
    public init(value: Double?) {}
}

public struct ContentUnavailableView: Leaf {
    public init(_ title: String, systemImage: String) {}
    public init<Title: View, Description: View, Actions: View>(
        @ViewBuilder label: () -> Title, @ViewBuilder description: () -> Description,
        @ViewBuilder actions: () -> Actions
    ) {}
}

public struct Button: Leaf {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}

public struct TextField: Leaf {
    public init(_ title: String, text: Binding<String>) {}
}

public struct SecureField: Leaf {
    public init(_ title: String, text: Binding<String>) {}
}

public struct Toggle: Leaf {
    public init(_ title: String, isOn: Binding<Bool>) {}
}

public struct Spacer: Leaf {
    public init() {}
}

public struct Group: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct Form: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct Section: Leaf {
    public init<Content: View>(_ title: String, @ViewBuilder content: () -> Content) {}
}

public struct VStack: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct HStack: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct List: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder row: @escaping (Data.Element) -> Row
    ) where Data.Element: Identifiable {}
    public init<Data: RandomAccessCollection, ID: Hashable, Row: View>(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder row: @escaping (Data.Element) -> Row
    ) {}
}

public struct ForEach: Leaf {
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder row: @escaping (Data.Element) -> Row
    ) where Data.Element: Identifiable {}
    public init<Data: RandomAccessCollection, ID: Hashable, Row: View>(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder row: @escaping (Data.Element) -> Row
    ) {}
}

public struct NavigationStack: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct NavigationLink: Leaf {
    public init<Destination: View, Title: View>(
        @ViewBuilder destination: () -> Destination, @ViewBuilder label: () -> Title
    ) {}
    public init(_ title: String, value: (some Hashable)?) {}
}
