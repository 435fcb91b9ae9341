/// What has been prepared for a call: who hears of it, how often it is tried, and what comes before and after it.
struct CallConfiguration: Sendable {
    var handlers: Handlers
    /// What few calls have. Kept apart, so that the others are copied the quicker.
    private var box: Box?

    var extras: Extras? { box?.extras }
    var hasExtras: Bool { box != nil }
    /// Whether other calls come first.
    var isHeld: Bool { extras?.predecessors.isEmpty == false }
    var isEmpty: Bool { handlers.kinds.isEmpty && box == nil }

    private final class Box: Sendable {
        /// Calls among them, which have a box as well. Locked only to be handed over at the end.
        private let held: Locked<Extras?>

        var extras: Extras? { held.withLock { $0 } }

        init(_ extras: Extras) {
            held = Locked(extras)
        }

        deinit {
            var extras = held.withLock { $0.take() }
            Unlinking.letGo(of: &extras)
        }
    }

    struct Extras: Sendable {
        var retry: RetryRule?
        var predecessors: [Predecessor] = []
        var links: [Link] = []
        /// How many of the links tell the handlers again.
        var recallCount = 0
    }

    /// Makes the call wait for another one: calls back when that has finished, and returns its task if it started it.
    typealias Predecessor =
        @Sendable (
            _ isolation: isolated (any Actor)?, _ whenFinished: @escaping @Sendable () -> Void
        ) -> (any ChainedTask)?

    /// Starts another call when a run has finished, and chains it to that. Does nothing if this outcome is not its
    /// business.
    typealias Link =
        @Sendable (
            _ outcome: CallState.Outcome, _ plan: CallConfiguration, _ life: CallState,
            _ isolation: isolated (any Actor)?
        ) -> Void

    init(handlers: Handlers = Handlers()) {
        self.handlers = handlers
    }

    mutating func add(_ change: (inout Extras) -> Void) {
        var extras = extras ?? Extras()
        change(&extras)
        box = Box(extras)
    }
}
