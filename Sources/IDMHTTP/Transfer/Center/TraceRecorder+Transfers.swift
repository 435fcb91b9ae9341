public import IDMCore
internal import IDMFiles

extension TraceRecorder {
    /// Records every transfer of a center, those that are there already among them.
    ///
    /// A transfer is a span that bears its id, from the moment in which it is asked for to its end, and what became of
    /// it. Inside are how long it waited for its turn, how long it ran and how long it was paused, each with how far it
    /// had come by then. One that is resumed after its end begins a span of its own. The center keeps the recorder.
    ///
    /// ```swift
    /// trace.watch(center)
    /// ```
    ///
    /// For the requests that transfers are made of, put a ``TraceInterceptor`` into the service. A transfer without a
    /// center is recorded as any provider is: `DownloadProvider(service).traced("map", by: trace)`.
    ///
    /// - Parameters:
    ///   - center: The center.
    ///   - track: The name of the track.
    public func watch(_ center: TransferCenter, as track: String = "transfers") {
        let spans = TransferSpans(recorder: self, track: track)
        center.watch { spans.hear($1, of: $0) }
    }
}

/// The spans of a center's transfers.
private final class TransferSpans: Sendable {
    private struct Spans {
        let whole: TraceRecorder.Span
        var part: TraceRecorder.Span
        var name: String
        var bytes: Int64
    }

    private let recorder: TraceRecorder
    private let track: String
    private let transfers = Locked([String: Spans]())

    init(recorder: TraceRecorder, track: String) {
        self.recorder = recorder
        self.track = track
    }

    /// Hears of the states of one transfer in order. With nil nothing more comes.
    func hear(_ state: TransferState?, of id: String) {
        transfers.withLock { transfers in
            guard let state, let name = state.part else { return end(&transfers[id], state?.outcome ?? "left") }
            let bytes = state.progress?.completed ?? 0
            if transfers[id] == nil {
                let whole = recorder.begin(id, on: track)
                let part = recorder.begin(name, on: track, within: whole)
                transfers[id] = Spans(whole: whole, part: part, name: name, bytes: bytes)
            } else if let spans = transfers[id], spans.name != name {
                spans.part.end("\(bytes) bytes")
                transfers[id]?.part = recorder.begin(name, on: track, within: spans.whole)
                transfers[id]?.name = name
            }
            transfers[id]?.bytes = bytes
        }
    }

    private func end(_ spans: inout Spans?, _ outcome: String) {
        spans?.part.end("\(spans?.bytes ?? 0) bytes")
        spans?.whole.end(outcome)
        spans = nil
    }
}

extension TransferState {
    /// What a transfer does while it is in this state. Nil if it is over.
    fileprivate var part: String? {
        switch self {
        case .waiting: "waits"
        case .running: "runs"
        case .paused: "paused"
        case .finished, .failed, .cancelled: nil
        }
    }

    /// What has become of a transfer. Of an error its kind is shown, for its text may hold what nobody else is to see.
    fileprivate var outcome: String? {
        switch self {
        case .waiting, .running, .paused: nil
        case .finished(.file(let file)): "success, \(file.size) bytes"
        case .finished(.response(let response)): "success \(response.status)"
        case .failed(let error as TransferError): "failure: \(error.kind)"
        case .failed(let error): "failure: \(error.safeName)"
        case .cancelled: "cancelled"
        }
    }
}

extension TransferError {
    /// Which case it is, without the names of files.
    fileprivate var kind: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
