import TestSupport
import Testing

@testable import IDMCore

@Suite("Providers", .timeLimit(.ample))
struct ProvidersTests {
    @Test("A closure answers with what it returns, and fails with what it throws")
    func closure() async throws {
        let provider = ClosureDataProvider { (number: Int) in
            if number < 0 { throw Trouble.first }
            return number * 3
        }
        #expect(try await provider.request(2) == 6)
        await #expect(throws: Trouble.first) { try await provider.request(-1) }
    }

    @Test("A value answers every request, also one without input")
    func value() async throws {
        #expect(try await ValueDataProvider<Int, String>("a").request(1) == "a")
        #expect(try await ValueDataProvider("b").request() == "b")
    }

    @Test("Erasing twice adds nothing")
    func erasingTwice() {
        let once = Doubler().eraseToAnyDataProvider()
        let twice = AnyDataProvider(once)
        #expect(twice.base is Doubler)
    }

    @Test("An erased single provider is no stream, an erased stream is one")
    func erasure() async {
        #expect(!Doubler().eraseToAnyDataProvider().deliversMany)
        let erased = Listed(1, 2).eraseToAnyDataProvider()
        #expect(erased.deliversMany)
        #expect(await collect(erased, 0).values == [1, 2])
    }

    @Test("A stream's request is its last value")
    func lastValue() async throws {
        #expect(try await Listed(1, 2, 3).request(0) == 3)
    }

    @Test("A stream that ends without a value fails with noAnswer")
    func emptyStream() async {
        await #expect(throws: DataProviderError.noAnswer) { try await Listed().request(0) }
    }

    @Test("A stream that fails after values fails its request")
    func failingStream() async {
        await #expect(throws: Trouble.first) { try await Listed(1, error: Trouble.first).request(0) }
    }

    @Test("A stream that merely ends when it is cancelled hasn't answered")
    func streamThatEndsOnCancel() async throws {
        let (source, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(1)
        let task = Task { try await source.lastValue() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("The values of a plain provider are its one answer, asked for at the first value")
    func singleValues() async throws {
        let provider = FailingAtFirst(0)
        let values = ProviderValues(of: provider, for: 4)
        var iterator = values.makeAsyncIterator()
        #expect(provider.count == 0)
        #expect(try await iterator.next() == 4)
        #expect(try await iterator.next() == nil)
        #expect(provider.count == 1)
    }

    @Test("Each walk through the values is a request of its own")
    func twoWalks() async throws {
        let provider = FailingAtFirst(0)
        let values = ProviderValues(of: provider, for: 4)
        for _ in 0..<2 {
            var iterator = values.makeAsyncIterator()
            #expect(try await iterator.next() == 4)
        }
        #expect(provider.count == 2)
    }

    @Test("A stream hidden in 'some DataProvider' is still found")
    func hiddenStream() async {
        func hide(_ provider: some DataProvider<Int, Int>) -> some DataProvider<Int, Int> { provider }
        #expect(hide(Listed(1)).stream != nil)
        #expect(hide(Doubler()).stream == nil)
    }
}
