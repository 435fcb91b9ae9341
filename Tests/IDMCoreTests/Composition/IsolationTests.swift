import IDMTesting
import TestSupport
import Testing

@testable import IDMCore

/// A provider that answers at once does so inside of every composition, on the caller's actor.
@Suite(.timeLimit(.ample))
@MainActor
struct IsolationTests {
    typealias Composed = @Sendable (MainActorProbe) -> any DataProvider<Int, Bool>

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let compose: Composed

        init(_ name: String, _ compose: @escaping Composed) {
            testDescription = name
            self.compose = compose
        }
    }

    struct Truth: DataModel {
        let value: Bool
        init(from source: Bool) { value = source }
    }

    nonisolated static let compositions: [Case] = [
        Case("alone") { $0 },
        Case("erased") { $0.eraseToAnyDataProvider() },
        Case("sequence") { Doubler() >>>> $0 },
        Case("sequence of closures") { ClosureDataProvider { (number: Int) in number } >>>> $0 >>>> { $0 } },
        Case("inline model") { $0.model(Truth.self, parsing: .inline).map(\.value) },
        Case("map") { $0.map { $0 } },
        Case("mapInput") { $0.mapInput { $0 } },
        Case("mapError") { $0.mapError { $0 } },
        Case("fallback, unused") { $0.fallback(to: Failing(Trouble.first, Int.self, Bool.self)) },
        Case("fallback, used") { Failing(Trouble.first, Int.self, Bool.self).fallback(to: $0) },
        Case("retry") { $0.retry(3) },
        Case("retry, used") { FailingAtFirst(2).retry(2) >>>> $0 },
        Case("timeout") { $0.timeout(.seconds(60)) },
        Case("delay of nothing") { $0.delay(.zero) },
        Case("merged") { $0.merged(with: $0) },
        Case("attached") { $0.attached(Doubler()) },
        Case("coalesced") { $0.coalesced() },
        Case("each") { $0.each().mapInput { [$0] }.map { $0[0] } },
        Case("group") { ($0 >><< $0).mapInput { ($0, $0) }.map { $0.0 && $0.1 } },
        Case("collecting group") {
            ($0 >><< $0).collectingResults().mapInput { ($0, $0) }.map { try $0.0.get() && $0.1.get() }
        },
        Case("grouped") { ($0 >><< $0).grouped().mapInput { ($0, $0) }.map { $0.0 && $0.1 } },
        Case("requests") { SharedRequests<Int, Bool>(provider: $0, closesWhenFinished: false).join(1, 1) },
        Case("all of them") {
            (Doubler() >>>> $0.retry(1).timeout(.seconds(60)).coalesced().fallback(to: $0)).mapError { $0 }
                .attached(Doubler()).timeout(.seconds(60))
        },
    ]

    enum Way: CaseIterable { case request, values, requestWithProgress }

    @Test(arguments: compositions, Way.allCases)
    func `a composition stays on the actor and returns a ready answer at once`(_ composition: Case, way: Way)
        async throws
    {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let provider = AnyDataProvider(composition.compose(MainActorProbe()))
        let (log, progress) = (Log(), ProgressLog())
        let wasAtOnce = try await endsWithoutSuspension {
            switch way {
            case .request: log.add("\(try await provider.request(1))")
            case .requestWithProgress:
                try await progress.reporter.ambient { log.add("\(try await provider.request(1))") }
            case .values:
                var values = provider.values(for: 1).makeAsyncIterator()
                while let value = try await values.next(isolation: #isolation) { log.add("\(value)") }
            }
        }

        #expect(wasAtOnce && Set(log.entries) == ["true"])
    }

    @Test(arguments: compositions)
    func `a composition stays on the actor after a suspension`(_ composition: Case) async throws {
        let gate = ControlledDataProvider<Int, Int>()
        let provider = composition.compose(MainActorProbe())
        let task = Task { @MainActor in
            let input = try await gate.request(1)
            return try await provider.request(input)
        }
        try await gate.waitForRequest().answer(1)
        let isOnMainActor = try await task.value
        #expect(isOnMainActor)
    }
}
