internal import IDMCore

/// The provider behind a cache: asks it, and writes what it answers.
struct Upstream<Base: DataProvider, Store: CacheStore>: DataProvider where Store.Value == Base.Output {
    typealias Input = Question<Base.Input, Store.Key, Store.Value>

    struct Output: Sendable {
        var value: Base.Output
        /// The place of its question in the ledger's order.
        let number: Int64
        /// The write, if it takes its time. It goes on whoever leaves.
        let writing: Writing?
    }

    /// A write on its way.
    struct Writing: Sendable {
        /// Nil if the write is that of another request, whose answer is delivered in the place of this one's.
        let task: Task<Void, Never>?
        /// Becomes true as well when the write has to wait for another process.
        let isOver: LatestValue<Bool>

        /// Waits until it is over, or the task that waits is cancelled. It is then no less urgent than that one.
        func finish() async {
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                task?.escalatePriority(to: Task.currentPriority)
            }
            await isOver.becomesTrueOrCancelled()
        }
    }

    let base: Base
    let store: Store
    let tags: (@Sendable (Base.Input, Base.Output) -> Set<String>)?

    func request(_ question: Input) async throws -> Output {
        let visit = question.visit
        if let (entry, number) = visit.answerMeanwhile {
            return Output(value: entry.value, number: number, writing: nil)
        }
        visit.ask()
        let permit = store.ledger.permit(for: visit.key)
        let value = try await base.request(visit.input)
        let entry = store.ledger.entry(value, tags: tags?(visit.input, value) ?? [])
        let progress = store.answersAtOnce ? nil : permit.beginWrite()
        if let newer = permit.answer(entry) {
            store.ledger.report(.dropped(visit.key))
            let writing = permit.newerWrite.map { Writing(task: nil, isOver: $0.isOverOrHeldUp) }
            return Output(value: newer.value, number: permit.number, writing: writing)
        }
        guard let progress else {
            await store.keep(entry, for: visit.key, permit: permit)
            return Output(value: value, number: permit.number, writing: nil)
        }
        let task = LibraryTask.start(isolation: #isolation) { [store] _ in
            await store.keep(entry, for: visit.key, permit: permit)
        }
        return Output(
            value: value, number: permit.number, writing: Writing(task: task, isOver: progress.isOverOrHeldUp))
    }
}
