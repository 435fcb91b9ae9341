/// A FIFO queue whose operations take constant time on average.
package struct Backlog<Element> {
    private var incoming: [Element] = []
    /// The older elements, the oldest at the end.
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
