/// Elements in an order, the least first, and of equals the one that came first. Any of them may be removed, and what
/// one costs hardly grows with their number. A value.
struct Heap<Order: Comparable, Element> {
    fileprivate struct Place: Comparable {
        let order: Order
        let number: Int

        static func < (one: Place, other: Place) -> Bool { (one.order, one.number) < (other.order, other.number) }
    }

    /// The places, each before two others. Those of elements that were removed stay for a while.
    private var places: [Place] = []
    private var elements: [Int: Element] = [:]
    private var lastNumber = 0

    var counts: (elements: Int, places: Int) { (elements.count, places.count) }

    mutating func insert(_ element: Element, at order: Order) -> Int {
        lastNumber += 1
        elements[lastNumber] = element
        places.append(Place(order: order, number: lastNumber))
        var place = places.count - 1
        while place > 0, case let parent = (place - 1) / 2, places[place] < places[parent] {
            places.swapAt(place, parent)
            place = parent
        }
        return lastNumber
    }

    mutating func remove(_ number: Int) {
        guard elements.removeValue(forKey: number) != nil, places.count > 2 * elements.count + 32 else { return }
        // A sorted array is a heap.
        places = places.filter { elements[$0.number] != nil }.sorted()
    }

    mutating func first() -> (order: Order, element: Element)? {
        while let first = places.first {
            if let element = elements[first.number] { return (first.order, element) }
            removeFirstPlace()
        }
        return nil
    }

    mutating func removeFirst() {
        guard first() != nil else { return }
        elements[places[0].number] = nil
        removeFirstPlace()
    }

    mutating func removeAll(upTo order: Order) -> [Element] {
        var removed: [Element] = []
        while let (next, element) = first(), next <= order {
            removed.append(element)
            removeFirst()
        }
        return removed
    }

    private mutating func removeFirstPlace() {
        places.swapAt(0, places.count - 1)
        places.removeLast()
        var place = 0
        while case let child = 2 * place + 1, child < places.count {
            let least = child + 1 < places.count && places[child + 1] < places[child] ? child + 1 : child
            guard places[least] < places[place] else { return }
            places.swapAt(place, least)
            place = least
        }
    }
}

extension Heap.Place: Sendable where Order: Sendable {}
extension Heap: Sendable where Order: Sendable, Element: Sendable {}
