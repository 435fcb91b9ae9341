internal import IDMCore

/// The provider behind a cache: asks it, and writes what it answers.
struct Upstream<Base: DataProvider, Store: CacheStore>: DataProvider where Store.Value == Base.Output {
    typealias Input = Question<Base.Input, Store.Key, Store.Value>

    struct Output: Sendable {
        var value: Base.Output
        /// The place of its question in the ledger's order.
        let number: Int64
        /// Whether it has been written, if that takes its time. It goes on whoever leaves.
        let hasWritten: LatestValue<Bool>?
    }

    let base: Base
    let store: Store
    let tags: (@Sendable (Base.Input, Base.Output) -> Set<String>)?

    func request(_ question: Input) async throws -> Output {
        let visit = question.visit
        if let (entry, number) = visit.answerMeanwhile {
            return Output(value: entry.value, number: number, hasWritten: nil)
        }
        visit.ask()
        let permit = store.ledger.permit(for: visit.key)
        let value = try await base.request(visit.input)
        let entry = store.ledger.entry(value, tags: tags?(visit.input, value) ?? [])
        if let newer = permit.answer(entry) {
            store.ledger.report(.dropped(visit.key))
            return Output(value: newer.value, number: permit.number, hasWritten: nil)
        }
        guard !store.answersAtOnce else {
            await store.keep(entry, for: visit.key, permit: permit)
            return Output(value: value, number: permit.number, hasWritten: nil)
        }
        let hasWritten = LatestValue(false)
        LibraryTask.start(isolation: #isolation) { [store] _ in
            await store.keep(entry, for: visit.key, permit: permit)
            hasWritten.set(true)
        }
        return Output(value: value, number: permit.number, hasWritten: hasWritten)
    }
}
