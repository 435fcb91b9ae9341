final class Flights<Key: Hashable & Sendable, Input: Sendable, Output: Sendable>: Sendable { init(provider: any DataProvider<Input, Output>) {}
 func join(_ k: Key, _ i: Input) -> Seat<Input, Output> { Seat() } }
final class Seat<Input: Sendable, Output: Sendable>: DataProvider { func leave() {} ; func request(_ i: Input) async throws -> Output { throw DataProviderError.noAnswer } }
public struct RetryDelay: Sendable { public static var none: RetryDelay { .init() }; func duration(beforeRetry: Int) -> Duration { .zero } }
extension DataProvider { func model<M: DataModel>(_ m: M.Type, parsing: ModelParsing) -> ModelP<Self, M> { ModelP(base: self) } }
struct ModelP<B: DataProvider, M: DataModel>: DataProvider where M.Source == B.Output { let base: B; func request(_ i: B.Input) async throws -> M { try await M(from: base.request(i)) } }
