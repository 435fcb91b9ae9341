import IDMCore

extension IntegrationCall where Output == String {
    /// This call, with everything that is heard of it in a log.
    func heard(
        in log: Shared<[String]>, isolation: isolated (any Actor)? = #isolation
    ) -> IntegrationCall<String> {
        // The isolation is captured, so that the handlers are written on the caller's actor.
        onBeginning {
            _ = isolation
            log.value += ["begin"]
        }
        .onSuccess { value in
            _ = isolation
            log.value += [value]
        }
        .onError { error in
            _ = isolation
            log.value += ["error \(error)"]
        }
        .onCancel { reason in
            _ = isolation
            log.value += ["cancel \(reason)"]
        }
        .onCompletion {
            _ = isolation
            log.value += ["completion"]
        }
    }
}

extension StreamDataProvider where Output: Sendable {
    /// Everything that comes of one request, an error at the end included.
    func everything(for input: Input) async -> [String] {
        var words: [String] = []
        do {
            for try await value in values(for: input) { words.append("\(value)") }
        } catch {
            words.append("error \(error)")
        }
        return words
    }
}
