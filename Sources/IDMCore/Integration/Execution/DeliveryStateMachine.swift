/// Decides who may speak for one run, and whether it still may. A pure state machine.
///
/// Three parties speak to the handlers of a run: its own task (beginning, retries, values, the end), a pump (progress)
/// and whoever cancels it while the provider is at work, because a provider that ignores its cancel can't be waited
/// for. One of them speaks at a time. Whoever stops speaking looks at what has been noted meanwhile and passes the word
/// on.
///
/// ```text
/// silent ── begin ──▶ speaking ── ask ──▶ asking ── speak ──▶ speaking ── commit ──▶ ending
///                                           └────── cancel (takes over) ─────────────▶ ending
/// ```
struct DeliveryStateMachine: Sendable, Hashable {
    private enum Speaker: Sendable { case run, pump }

    /// A report that is still to be told. Kept apart: few runs have one, and thousands may wait.
    private indirect enum Untold: Sendable, Hashable {
        case progress(IntegrationProgress)
    }

    /// What came while somebody was speaking.
    private struct Notes: Sendable, Hashable {
        // The largest one first: what comes after it fits closely.
        var untold: Untold?
        var cancelled: CancelReason?
        var runWaits = false
    }

    private enum State: Sendable, Hashable {
        /// Nothing has been heard. The run's own task will speak first.
        case silent(cancelled: CancelReason?)
        /// A handler runs, or is about to.
        case speaking(Notes, by: Speaker)
        /// The provider is at work, and nobody speaks. A report that has come is told by the run before its next word,
        /// or by the pump if that comes first.
        case asking(Untold?)
        /// The end is decided. Whoever decided it tells it.
        case ending
    }

    private var state = State.silent(cancelled: nil)
    private var fraction = 0.0

    /// What the run's own task is to do next.
    enum Turn: Sendable, Hashable {
        case proceed
        /// Proceed, and send for the pump: there is a report to tell meanwhile.
        case proceedWithPump
        /// The run was cancelled, and the caller is the one to tell.
        case cancelled(CancelReason)
        /// Tell this progress, then ask again.
        case progress(IntegrationProgress)
        /// The pump speaks: wait to be woken, then ask again.
        case wait
        /// Somebody else tells the end. Leave.
        case over
    }

    /// Whether nothing has been heard, and something may be.
    var mayBegin: Bool {
        if case .silent(cancelled: nil) = state { return true }
        return false
    }

    /// Whether the end has been decided.
    var isEnding: Bool {
        if case .ending = state { return true }
        return false
    }

    // MARK: The run's own task

    /// The first word, in the turn in which it is heard. `.proceed` or `.cancelled`.
    mutating func begin() -> Turn {
        guard case .silent(let reason) = state else { return .over }
        if let reason {
            state = .ending
            return .cancelled(reason)
        }
        state = .speaking(Notes(), by: .run)
        return .proceed
    }

    /// The first word of a run whose beginning nobody hears: the provider is asked straight away.
    mutating func beginAndAsk() -> Turn {
        let turn = begin()
        return turn == .proceed ? ask() : turn
    }

    /// Before the provider is asked, or asked for the next value.
    ///
    /// - Parameter hasTold: Whether a report was told because of that. What has come meanwhile is left to the pump, or
    ///   a busy reporter could put the provider off for ever.
    mutating func ask(hasTold: Bool = false) -> Turn {
        guard case .speaking(var notes, by: .run) = state else { return .over }
        if let reason = notes.cancelled {
            state = .ending
            return .cancelled(reason)
        }
        guard case .progress(let progress) = notes.untold else {
            state = .asking(nil)
            return .proceed
        }
        if hasTold {
            state = .asking(notes.untold)
            return .proceedWithPump
        }
        notes.untold = nil
        state = .speaking(notes, by: .run)
        return .progress(progress)
    }

    /// After the provider has answered, before its answer is told.
    mutating func speak() -> Turn {
        switch state {
        case .asking(let untold):
            state = .speaking(Notes(), by: .run)
            if case .progress(let progress) = untold { return .progress(progress) }
            return .proceed
        case .speaking(var notes, by: .pump):
            notes.runWaits = true
            state = .speaking(notes, by: .pump)
            return .wait
        case .speaking(var notes, by: .run):
            guard notes.cancelled == nil, case .progress(let progress) = notes.untold else { return .proceed }
            notes.untold = nil
            state = .speaking(notes, by: .run)
            return .progress(progress)
        case .silent, .ending:
            return .over
        }
    }

    /// In the turn in which the first handler of an answer runs. `.proceed` commits it: no cancel takes it back. The
    /// final answer decides the end. May be called straight after asking where no pump can speak.
    mutating func commit(isFinal: Bool) -> Turn {
        switch state {
        case .asking:
            state = isFinal ? .ending : .speaking(Notes(), by: .run)
            return .proceed
        case .speaking(let notes, by: .run):
            if let reason = notes.cancelled {
                state = .ending
                return .cancelled(reason)
            }
            if isFinal { state = .ending }
            return .proceed
        case .speaking(_, by: .pump), .silent, .ending:
            return .over
        }
    }

    // MARK: Progress

    /// What comes of a report.
    enum Report: Sendable, Hashable {
        /// Nobody speaks: the caller sends for the pump.
        case wanted
        /// Somebody will see to it, or it came too late.
        case noted
    }

    mutating func report(_ progress: IntegrationProgress) -> Report {
        fraction = max(fraction, progress.fraction)
        let progress = IntegrationProgress(
            fraction: fraction, completed: progress.completed, total: progress.total)
        switch state {
        case .asking(let noted):
            state = .asking(.progress(progress))
            return noted == nil ? .wanted : .noted
        case .speaking(var notes, by: let speaker):
            notes.untold = .progress(progress)
            state = .speaking(notes, by: speaker)
            return .noted
        case .silent, .ending:
            return .noted
        }
    }

    /// The pump has come. Returns what it is to tell, or nil if the run has been quicker.
    mutating func pump() -> IntegrationProgress? {
        guard case .asking(.progress(let progress)) = state else { return nil }
        state = .speaking(Notes(), by: .pump)
        return progress
    }

    /// Whether something that isn't an answer may still be told, in the turn in which it is heard.
    var isHeard: Bool {
        switch state {
        case .speaking(let notes, by: _): notes.cancelled == nil
        case .silent, .asking, .ending: false
        }
    }

    /// What the pump is to do when it has told a progress.
    enum Hush: Sendable, Hashable {
        case done
        case progress(IntegrationProgress)
        /// The run's task waits: wake it, it speaks now.
        case handOver
        /// The run was cancelled: tell the end, and wake the run's task if it waits, so that it leaves.
        case end(CancelReason, runWaits: Bool)
    }

    mutating func hush() -> Hush {
        guard case .speaking(var notes, by: .pump) = state else { return .done }
        if let reason = notes.cancelled {
            state = .ending
            return .end(reason, runWaits: notes.runWaits)
        }
        if notes.runWaits {
            notes.runWaits = false
            state = .speaking(notes, by: .run)
            return .handOver
        }
        if case .progress(let progress) = notes.untold {
            notes.untold = nil
            state = .speaking(notes, by: .pump)
            return .progress(progress)
        }
        state = .asking(nil)
        return .done
    }

    // MARK: Cancel

    /// What comes of a cancel.
    enum Cancel: Sendable, Hashable {
        /// Too late, or not the first.
        case nothing
        /// The run's task, or the pump, speaks or is about to, and will tell.
        case stop
        /// Nobody speaks: the caller tells the end.
        case takeOver
    }

    mutating func cancel(_ reason: CancelReason) -> Cancel {
        switch state {
        case .silent(nil):
            state = .silent(cancelled: reason)
            return .stop
        case .speaking(var notes, by: let speaker) where notes.cancelled == nil:
            notes.cancelled = reason
            notes.untold = nil
            state = .speaking(notes, by: speaker)
            return .stop
        case .asking:
            state = .ending
            return .takeOver
        case .silent, .speaking, .ending:
            return .nothing
        }
    }
}
