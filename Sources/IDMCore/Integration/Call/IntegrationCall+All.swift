extension Collection {
    /// Makes all calls, each under the rule of its integrator, and waits until they and everything chained to them have
    /// finished.
    ///
    /// - Returns: How the calls ended, in the order of the calls. If the awaiting task is cancelled, so are all the
    ///   calls. In a task that is cancelled already no provider is asked.
    public func callAll<Output>() async -> [IntegrationOutcome<Output>] where Element == IntegrationCall<Output> {
        var started: [IntegrationTask<Output>] = []
        // Not mapped: a closure would leave the caller's actor, on which the providers are to be asked.
        for call in self { started.append(call.callToAwait()) }
        let tasks = started
        return await LibraryTask.hearingCancel {
            var outcomes: [IntegrationOutcome<Output>] = []
            for task in tasks {
                await task.finish()
                outcomes.append(await task.outcome)
            }
            return outcomes
        } onCancel: {
            for task in tasks { task.cancel() }
        }
    }
}
