import TestSupport
import Testing

@testable import IDMCore

@Suite("Merging", .timeLimit(.ample))
struct MergeTests {
    @Test("delivers one provider's value, then the other's; the last one is the answer to a request")
    func order() async throws {
        let merged = Doubler().merged(with: ValueDataProvider(9))
        #expect(merged.deliversMany)
        #expect(await collect(merged, 1).values == [2, 9])
        #expect(try await merged.request(1) == 9)
    }

    @Test("delivers all values of streams")
    func streams() async {
        #expect(await collect(Listed(1, 2).merged(with: Listed(3, 4)), 0).values == [1, 2, 3, 4])
    }

    @Test("asks the other one only after the first one's last value was taken")
    func lazily() async throws {
        let other = FailingAtFirst(0)
        var values = Doubler().merged(with: other).values(for: 1).makeAsyncIterator()
        #expect(try await values.next() == 2)
        #expect(other.count == 0)
        #expect(try await values.next() == 1)
        #expect(try await values.next() == nil)
        #expect(try await values.next() == nil)
        #expect(other.count == 1)
    }

    @Test("ends with the first failure")
    func failure() async {
        let other = FailingAtFirst(0)
        let result = await collect(Failing(Trouble.first).merged(with: other), 1)
        #expect(result.values.isEmpty)
        #expect(result.error as? Trouble == .first)
        #expect(other.count == 0)
    }
}
