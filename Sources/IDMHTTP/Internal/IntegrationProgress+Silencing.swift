internal import IDMCore

extension IntegrationProgress {
    /// Does something of which nobody hears how far it has come.
    static func silencing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await Reporter(Unheard()).ambient { try await body() }
    }

    private final class Unheard: ProgressListener {
        func hear(_ progress: IntegrationProgress) {}
    }
}
