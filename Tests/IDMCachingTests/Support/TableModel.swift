/// A table that is too simple to be wrong: a list in the order of use, and one in the order of writing.
struct TableModel<Payload> {
    /// The least recently used one first.
    private(set) var used: [(key: Int, payload: Payload)] = []
    private var written: [Int] = []

    var oldest: Payload? { used.first { $0.key == written.first }?.payload }

    mutating func remove(_ key: Int) -> Payload? {
        written.removeAll { $0 == key }
        guard let index = used.firstIndex(where: { $0.key == key }) else { return nil }
        return used.remove(at: index).payload
    }

    mutating func use(_ key: Int) -> Payload? {
        guard let index = used.firstIndex(where: { $0.key == key }) else { return nil }
        used.append(used.remove(at: index))
        return used.last?.payload
    }

    mutating func insert(_ payload: Payload, _ key: Int) -> Payload? {
        let old = remove(key)
        used.append((key, payload))
        written.append(key)
        return old
    }

    mutating func removeLeastUsed() -> Payload? {
        used.first.flatMap { remove($0.key) }
    }

    mutating func removeOldest() -> Payload? {
        written.first.flatMap { remove($0) }
    }
}
