/// Identifies one call of a lane. The ID of a finished call is never used again.
struct CallID: Hashable, Sendable {
    let slot: Int
    let serial: UInt64
}

/// A map with keys that it makes itself: insert, lookup and remove take constant time.
struct SlotMap<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var serial: UInt64
        var element: Element?
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var lastSerial: UInt64 = 0
    private(set) var count = 0

    /// The ID of the element that is inserted next.
    var nextID: CallID { CallID(slot: freeSlots.last ?? slots.count, serial: lastSerial + 1) }

    mutating func insert(_ element: consuming Element) -> CallID {
        lastSerial += 1
        count += 1
        guard let slot = freeSlots.popLast() else {
            slots.append(Slot(serial: lastSerial, element: element))
            return CallID(slot: slots.count - 1, serial: lastSerial)
        }
        slots[slot] = Slot(serial: lastSerial, element: element)
        return CallID(slot: slot, serial: lastSerial)
    }

    func contains(_ id: CallID) -> Bool {
        id.slot < slots.count && slots[id.slot].serial == id.serial && slots[id.slot].element != nil
    }

    /// Changes an element in place. Returns nil if there is none.
    @discardableResult
    mutating func update<R>(_ id: CallID, _ change: (inout Element) -> R) -> R? {
        guard contains(id) else { return nil }
        return change(&slots[id.slot].element!)
    }

    subscript(id: CallID) -> Element? {
        contains(id) ? slots[id.slot].element : nil
    }

    @discardableResult
    mutating func remove(_ id: CallID) -> Element? {
        guard contains(id) else { return nil }
        let element = slots[id.slot].element.take()
        count -= 1
        if count == 0 && slots.count > 32 {
            // Frees the memory of a burst. Serials continue, so old IDs still match nothing.
            slots = []
            freeSlots = []
        } else {
            freeSlots.append(id.slot)
        }
        return element
    }

    /// The IDs of all elements, in the order of insertion.
    var ids: [CallID] {
        slots.indices
            .filter { slots[$0].element != nil }
            .map { CallID(slot: $0, serial: slots[$0].serial) }
            .sorted { $0.serial < $1.serial }
    }
}
