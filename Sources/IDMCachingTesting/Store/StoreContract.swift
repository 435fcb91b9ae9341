public import IDMCaching
import IDMTesting

/// Checks that a cache store of yours keeps the contract of `CacheStore`.
///
/// ```swift
/// try await StoreContract.check(values: ["a": 1, "b": 2]) { MemoryCache<String, Int>(countLimit: 100) }
/// ```
public enum StoreContract {
    /// A rule for stores.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// A written value is read back with its tags, a missing key reads as nil, and a later write replaces a value.
        case readsWhatWasWritten
        /// A removed entry reads as nil, and the entries of other keys stay.
        case removesOneEntry
        /// All entries with a tag are removed, and no other entries.
        case removesByTag
        /// No entry is left after `removeAll`.
        case removesAll
        /// An entry whose permit is outdated isn't written.
        case asksThePermit
        /// Writes and reads from twenty tasks at once end with the written values.
        case standsConcurrentUse
    }

    /// A rule that a store breaks.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The rule.
        public let rule: Rule
        /// The expected and the observed behavior.
        public let message: String

        /// The rule and the message.
        public var description: String { "\(rule): \(message)" }
    }

    /// Checks a store, and records a failure for each rule that it breaks.
    ///
    /// - Parameters:
    ///   - values: Two keys at least, with different values.
    ///   - rules: The rules that are checked.
    ///   - make: Makes a new, empty store. Called once for each rule.
    ///   - fileID: The place that a failure points at. Leave it out.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    /// - Returns: The violations, which have been recorded.
    /// - Throws: The error of `make`; `CancellationError`, if the task is cancelled.
    @discardableResult
    public static func check<Store: CacheStore>(
        values: KeyValuePairs<Store.Key, Store.Value>, rules: Set<Rule> = Set(Rule.allCases),
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ make: @escaping @Sendable () async throws -> Store
    ) async throws -> [Violation] where Store.Value: Equatable {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line, column: column)
        let collector = FailureCollector.current
        guard values.count > 1 else {
            collector.record("Expected two keys with values at least, and \(values.count) came.", at: place)
            return []
        }
        var violations: [Violation] = []
        for rule in Rule.allCases where rules.contains(rule) {
            let message: String?
            do {
                let check = StoreCheck(store: try await make(), first: values[0], second: values[1], all: Array(values))
                message = try await check.violation(of: rule)
            } catch {
                try Task.checkCancellation()
                message = "the store should not throw, and it threw \(error)"
            }
            guard let message else { continue }
            let violation = Violation(rule: rule, message: message)
            violations.append(violation)
            collector.record("\(Store.self) breaks the contract of stores, \(violation).", at: place)
        }
        return violations
    }
}

/// The rules of ``StoreContract``, held against one store.
private struct StoreCheck<Store: CacheStore>: Sendable where Store.Value: Equatable {
    typealias Pair = (key: Store.Key, value: Store.Value)

    let store: Store
    let first: Pair
    let second: Pair
    let all: [Pair]

    /// Returns what is wrong, or nil.
    func violation(of rule: StoreContract.Rule) async throws -> String? {
        switch rule {
        case .readsWhatWasWritten: try await readsWhatWasWritten()
        case .removesOneEntry: try await removesOneEntry()
        case .removesByTag: try await removesByTag()
        case .removesAll: try await removesAll()
        case .asksThePermit: try await asksThePermit()
        case .standsConcurrentUse: try await standsConcurrentUse()
        }
    }

    private func readsWhatWasWritten() async throws -> String? {
        guard try await store.get(first.key) == nil else { return "a missing key should read as nil, and it did not" }
        try await store.write(first.value, for: first.key, tags: ["red", "blue"])
        guard let entry = try await store.get(first.key), entry.value == first.value else {
            return "a written value should be read, and it was not"
        }
        guard entry.tags == ["red", "blue"] else { return "the tags should be read, and \(entry.tags) were" }
        guard try await store.get(second.key) == nil else { return "the other key should read as nil, and it did not" }
        try await store.write(second.value, for: first.key)
        return try await value(of: first.key) == second.value ? nil : "a later value should be read, and it was not"
    }

    private func removesOneEntry() async throws -> String? {
        try await writeBoth()
        try await store.invalidate(first.key)
        guard try await store.get(first.key) == nil else { return "a removed entry should read as nil, and it did not" }
        return try await value(of: second.key) == second.value ? nil : "the other entry should stay, and it did not"
    }

    private func removesByTag() async throws -> String? {
        try await store.write(first.value, for: first.key, tags: ["red", "blue"])
        try await store.write(second.value, for: second.key, tags: ["blue"])
        try await store.invalidate(tag: "red")
        guard try await store.get(first.key) == nil else { return "a tagged entry should be removed, and it was not" }
        return try await value(of: second.key) == second.value
            ? nil : "an entry without the tag should stay, and it did not"
    }

    private func removesAll() async throws -> String? {
        try await writeBoth()
        try await store.invalidateAll()
        for key in [first.key, second.key] {
            guard try await store.get(key) == nil else { return "no entry should be left, and one is" }
        }
        try await store.write(first.value, for: first.key)
        return try await value(of: first.key) == first.value ? nil : "a later write should land, and it did not"
    }

    private func asksThePermit() async throws -> String? {
        let permit = store.ledger.permit(for: first.key)
        let entry = store.ledger.entry(first.value, tags: [])
        try await store.invalidate(first.key)
        try await store.set(entry, for: first.key, permit: permit)
        return try await store.get(first.key) == nil
            ? nil : "an entry that was invalidated should not be written afterwards, and it was"
    }

    private func standsConcurrentUse() async throws -> String? {
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for pair in all {
                for _ in 0..<max(1, 20 / all.count) {
                    group.addTask {
                        try await store.write(pair.value, for: pair.key)
                        return try await value(of: pair.key) != pair.value
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        return wrong == 0 ? nil : "each of 20 tasks should read its value, and \(wrong) did not"
    }

    private func writeBoth() async throws {
        for pair in [first, second] { try await store.write(pair.value, for: pair.key) }
    }

    private func value(of key: Store.Key) async throws -> Store.Value? { try await store.get(key)?.value }
}
