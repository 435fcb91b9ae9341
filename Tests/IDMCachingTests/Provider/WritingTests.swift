import IDMCore
import IDMTesting
import TestSupport
import Testing

@testable import IDMCaching

@Suite("A write on its way", .timeLimit(.ample))
struct WritingTests {
    private typealias Writing = Upstream<ValueDataProvider<String, String>, MemoryCache<String, String>>.Writing

    @Test("hurries for one who waits for it and is more urgent")
    func urgency() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (isListening, isUrgent, isOver) = (Signal(), Signal(), LatestValue(false))
        let task = Task(priority: .background) {
            await withTaskPriorityEscalationHandler {
                isListening.open()
                await isUrgent.waitIgnoringCancel()
            } onPriorityEscalated: { _, _ in
                isUrgent.open()
            }
            isOver.set(true)
        }
        try await isListening.wait()
        let writing = Writing(task: task, isOver: isOver)
        await Task(priority: .high) { await writing.finish() }.value
        #expect(await isOver.next(after: 0)?.value == true)
    }

    @Test("is waited for no longer by one who is cancelled")
    func cancelled() async {
        let task = Task<Void, Never> {}
        let writing = Writing(task: task, isOver: LatestValue(false))
        let waiting = Task { await writing.finish() }
        waiting.cancel()
        await waiting.value
    }
}
