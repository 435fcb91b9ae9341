/// Names one call at the gate of its integrator, for as long as the call lasts. A ticket whose call has ended names
/// nothing, and is never given out again.
struct CallID: Hashable, Sendable {
    let slot: Int
    let serial: UInt64
}

/// Elements under tickets: adding, finding and removing cost the same however many there are.
struct SlotMap<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var serial: UInt64
        var element: Element?
    }

    private var slots: [Slot] = []
    /// The slots without an element.
    private var free: [Int] = []
    private var lastSerial: UInt64 = 0
    private(set) var count = 0

    mutating func insert(_ element: consuming Element) -> CallID {
        lastSerial += 1
        count += 1
        guard let slot = free.popLast() else {
            slots.append(Slot(serial: lastSerial, element: element))
            return CallID(slot: slots.count - 1, serial: lastSerial)
        }
        slots[slot] = Slot(serial: lastSerial, element: element)
        return CallID(slot: slot, serial: lastSerial)
    }

    func contains(_ ticket: CallID) -> Bool {
        ticket.slot < slots.count && slots[ticket.slot].serial == ticket.serial && slots[ticket.slot].element != nil
    }

    /// Changes the element of a ticket in place. Returns nil if the ticket names nothing.
    mutating func update<R>(_ ticket: CallID, _ change: (inout Element) -> R) -> R? {
        guard contains(ticket) else { return nil }
        return change(&slots[ticket.slot].element!)
    }

    subscript(ticket: CallID) -> Element? {
        contains(ticket) ? slots[ticket.slot].element : nil
    }

    @discardableResult
    mutating func remove(_ ticket: CallID) -> Element? {
        guard contains(ticket) else { return nil }
        let element = slots[ticket.slot].element.take()
        count -= 1
        if count == 0 && slots.count > 32 {
            // A burst is over: give its memory back. Serials go on, so old tickets still name nothing.
            slots = []
            free = []
        } else {
            free.append(ticket.slot)
        }
        return element
    }

    /// The tickets that name something, in the order in which they were given out.
    var tickets: [CallID] {
        slots.indices
            .filter { slots[$0].element != nil }
            .map { CallID(slot: $0, serial: slots[$0].serial) }
            .sorted { $0.serial < $1.serial }
    }
}
