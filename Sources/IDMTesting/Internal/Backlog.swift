/// What waits to be handed out, in its order. Each step takes the same time on average, however much there is.
package struct Backlog<Element> {
    private var incoming: [Element] = []
    /// The older ones, the oldest at the end.
    private var outgoing: [Element] = []

    package init() {}

    package mutating func append(_ element: Element) {
        incoming.append(element)
    }

    package mutating func popFirst() -> Element? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming = []
        }
        return outgoing.popLast()
    }
}

extension Backlog: Sendable where Element: Sendable {}
