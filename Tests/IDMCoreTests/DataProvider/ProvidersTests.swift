import TestSupport
import Testing

@testable import IDMCore

@Suite(.timeLimit(.ample))
struct ProvidersTests {
    @Test func `a sequence provider without input delivers the sequence`() async {
        let provider = AsyncSequenceDataProvider {
            AsyncStream { continuation in
                continuation.yield(7)
                continuation.finish()
            }
        }

        #expect(await collect(provider, ()).values == [7])
    }

    @Test func `erasing twice adds nothing`() {
        #expect(AnyDataProvider(Doubler().eraseToAnyDataProvider()).base is Doubler)
    }

    @Test func `a stream that ends because of a cancel has not answered`() async throws {
        let (source, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(1)
        let task = Task { try await source.lastValue() }

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `each iterator of a plain provider's values makes one request`() async throws {
        let provider = FailingAtFirst(0)
        let values = ProviderValues(of: provider, for: 4)
        var counts = [provider.count]
        for _ in 0..<2 {
            var iterator = values.makeAsyncIterator()
            while try await iterator.next() != nil { counts.append(provider.count) }
        }

        #expect(counts == [0, 1, 2])
    }
}
