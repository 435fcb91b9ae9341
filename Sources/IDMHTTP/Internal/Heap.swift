/// Of many elements the least comes first, and each costs as little as the number of them has digits. A value.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var count: Int { elements.count }

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var place = elements.count - 1
        while place > 0, case let parent = (place - 1) / 2, elements[place] < elements[parent] {
            elements.swapAt(place, parent)
            place = parent
        }
    }

    /// Removes the first one. There has to be one.
    mutating func removeFirst() {
        elements.swapAt(0, elements.count - 1)
        elements.removeLast()
        var place = 0
        while case let child = 2 * place + 1, child < elements.count {
            let least = child + 1 < elements.count && elements[child + 1] < elements[child] ? child + 1 : child
            guard elements[least] < elements[place] else { return }
            elements.swapAt(place, least)
            place = least
        }
    }

    /// Removes whatever isn't to be kept. It costs as much as all of them.
    mutating func keep(where isKept: (Element) -> Bool) {
        // What is in order is a heap.
        elements = elements.filter(isKept).sorted()
    }
}

extension Heap: Sendable where Element: Sendable {}
