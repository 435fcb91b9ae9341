/// Calls of handlers, in a turn on an actor.
extension CallExecution {
    /// Calls the handlers of the begin event or of the completion, each on its actor.
    @inline(__always)
    func callPlain(_ event: EventSet, of handlers: HandlerList, here: (any Actor)?) async {
        HandlerContext.enter(here)
        var next = handlers.next(event)
        while let index = next {
            if traits.contains(.inPlace) || handlers[index].isolation === here {
                await handlers[index].plain()
            } else {
                // A plain handler doesn't read the event.
                await callElsewhere(index, of: handlers, .began, (), from: here)
            }
            next = handlers.next(event, after: index)
        }
        HandlerContext.leave(here)
    }

    /// Calls the handlers of a value.
    @inline(__always)
    func callSuccess(_ value: any Sendable, of handlers: HandlerList, here: (any Actor)?) async {
        HandlerContext.enter(here)
        var next = handlers.next(.success)
        while let index = next {
            if traits.contains(.inPlace) || handlers[index].isolation === here {
                await handlers[index].success(value)
            } else {
                await callElsewhere(index, of: handlers, .value, value, from: here)
            }
            next = handlers.next(.success, after: index)
        }
        HandlerContext.leave(here)
    }

    /// Calls the handlers of a failure or a cancellation.
    func callErrorOrCancel(_ event: CallEvent, of handlers: HandlerList, here: (any Actor)?) async {
        HandlerContext.enter(here)
        var next = handlers.next(event.kind)
        while let index = next {
            if handlers[index].isolation === here {
                await handlers[index].call(event, (), of: self)
            } else {
                await callElsewhere(index, of: handlers, event, (), from: here)
            }
            next = handlers.next(event.kind, after: index)
        }
        HandlerContext.leave(here)
    }

    /// Calls a handler in a turn on its own actor.
    @inline(never)
    private func callElsewhere(
        _ index: Int, of handlers: HandlerList, _ event: CallEvent, _ value: any Sendable, from here: (any Actor)?
    ) async {
        HandlerContext.leave(here)
        await LibraryTask.run(on: handlers[index].isolation) { actor in
            HandlerContext.enter(actor)
            await handlers[index].call(event, value, of: self)
            HandlerContext.leave(actor)
        }
        HandlerContext.enter(here)
    }

    /// Calls the handlers of a retry or of progress, unless the call was cancelled. A retry waits while the call is paused.
    func deliverWithinAttempt(_ event: CallEvent) async {
        let mayPause = event.kind == .retry
        for handler in configuration({ $0.handlers.list.of(event.kind) }) {
            var result = Turn.paused
            while result == .paused {
                if mayPause { await waitWhilePaused() }
                result = await LibraryTask.run(on: handler.isolation) { actor in
                    if mayPause, isPaused { return .paused }
                    guard scheduler.updateDelivery(id, { $0.allowsIntermediateEvents }) == true else { return .proceed }
                    HandlerContext.enter(actor)
                    await handler.call(event, (), of: self)
                    HandlerContext.leave(actor)
                    return .proceed
                }
            }
        }
    }
}
