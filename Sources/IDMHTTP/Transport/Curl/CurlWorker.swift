#if os(Linux)
internal import CIDMCurl
internal import Foundation

/// Everything of a loop that belongs to its thread: libcurl's handles, and which exchanges they work for.
struct CurlWorker: ~Copyable {
    /// A handle of libcurl, with the place for its texts.
    private struct Handle {
        let easy: OpaquePointer
        let text: UnsafeMutablePointer<CChar>
    }

    private struct Transfer {
        let exchange: CurlExchange
        let handle: Handle
        let fields: OpaquePointer?
        let pool: ConnectionScope
        /// When it ends at the latest. Nil for never.
        var deadline: ContinuousClock.Instant?
    }

    private static let textLength = 256
    private static let spareLimit = 64
    /// How long the rest of a body may take that is read for the sake of the connection.
    private static let skipTime = Duration.seconds(1)

    private let loop: CurlLoop
    private let multi: OpaquePointer?
    private var pools = ConnectionPools()
    private var spares: [Handle] = []
    private var transfers: [UInt: Transfer] = [:]
    private var uploads: Set<UInt> = []
    private var admission: CurlAdmission<ServiceOrigin?>
    private var waiting: [UInt: CurlExchange] = [:]
    private var deadlines: Set<UInt> = []
    private var isClosed = false

    init(_ loop: CurlLoop) {
        self.loop = loop
        multi = cidm_multi_init()
        admission = CurlAdmission(hostLimit: loop.settings.connectionsPerHost, limit: loop.settings.connections)
        if let multi { _ = cidm_multi_set_long(multi, CurlOption.maxConnects, loop.settings.connections) }
    }

    deinit {
        for handle in spares {
            cidm_easy_cleanup(handle.easy)
            handle.text.deallocate()
        }
        pools.close()
        if let multi { cidm_multi_cleanup(multi) }
        loop.finish()
    }

    /// Works until the loop is closed and has no exchange left.
    mutating func run() {
        while !isClosed || !transfers.isEmpty || !waiting.isEmpty {
            var isBusy = perform(loop.takeCommands())
            guard let multi else { continue }
            _ = cidm_multi_perform(multi)
            isBusy = finishEnded(multi) || isBusy
            reportTurn()
            endOverdue()
            // What has just begun or ended may let libcurl do more, which no poll would notice.
            if !isBusy || transfers.isEmpty { loop.sleep(multi, atMost: timeToDeadline) }
        }
    }

    // MARK: Commands

    private mutating func perform(_ commands: [CurlLoop.Command]) -> Bool {
        for command in commands {
            switch command {
            case .start(let exchange):
                if admission.enter(exchange.number, exchange.origin) {
                    begin(exchange)
                } else {
                    waiting[exchange.number] = exchange
                    exchange.didQueue()
                }
            case .stop(let number): stop(number)
            case .resume(let number): resume(number)
            case .skip(let number):
                transfers[number]?.deadline = .now + Self.skipTime
                deadlines.insert(number)
                resume(number)
            case .close: isClosed = true
            }
        }
        return !commands.isEmpty
    }

    private func resume(_ number: UInt) {
        if let transfer = transfers[number] { _ = cidm_easy_pause(transfer.handle.easy, 0) }
    }

    private mutating func stop(_ number: UInt) {
        if let exchange = waiting.removeValue(forKey: number) {
            exchange.endWork(nil, isMultiplexed: false)
            begin(admission.cancel(number, exchange.origin))
        } else if let transfer = remove(number) {
            transfer.exchange.endWork(nil, isMultiplexed: false)
            begin(admission.leave(transfer.exchange.origin))
        }
    }

    private mutating func begin(_ numbers: [UInt]) {
        for number in numbers {
            if let exchange = waiting.removeValue(forKey: number) { begin(exchange) }
        }
    }

    private mutating func begin(_ exchange: CurlExchange) {
        guard let multi, let handle = takeHandle() else {
            exchange.endWork(
                CurlResult(code: 27, text: "", verification: 0, tunnelStatus: 0), isMultiplexed: false)
            return begin(admission.leave(exchange.origin))
        }
        let fields = exchange.request.curlFields()
        exchange.request.setOptions(of: handle.easy, fields: fields, settings: loop.settings)
        cidm_set_error_buffer(handle.easy, handle.text)
        cidm_set_callbacks(handle.easy, exchange.number, loop.number)
        let pool = pools.enter(exchange.request)
        _ = cidm_set_share(handle.easy, pool.share)
        transfers[exchange.number] = Transfer(exchange: exchange, handle: handle, fields: fields, pool: pool.key)
        if exchange.request.body != nil { uploads.insert(exchange.number) }
        exchange.startWork(handle.easy)
        exchange.didBegin()
        _ = cidm_multi_add(multi, handle.easy)
    }

    // MARK: Ends

    private mutating func finishEnded(_ multi: OpaquePointer) -> Bool {
        var hasEnded = false
        var code: Int32 = 0
        while let easy = cidm_multi_next_ended(multi, &code) {
            hasEnded = true
            finish(cidm_get_number(easy), code)
        }
        return hasEnded
    }

    private mutating func finish(_ number: UInt, _ code: Int32) {
        guard let multi, let transfer = transfers[number] else { return }
        let (easy, exchange) = (transfer.handle.easy, transfer.exchange)
        if code != 0, exchange.takeStaleness() {
            // Nothing of the request has left.
            _ = cidm_multi_remove(multi, easy)
            _ = cidm_set_long(easy, CurlOption.freshConnect, 1)
            _ = cidm_multi_add(multi, easy)
            return
        }
        let result = CurlResult(
            code: code, text: code == 0 ? "" : String(cString: transfer.handle.text),
            verification: code == 0 ? 0 : cidm_get_long(easy, CurlInfo.sslVerifyResult),
            tunnelStatus: code == 0 ? 0 : cidm_get_long(easy, CurlInfo.httpConnectCode))
        let isMultiplexed = cidm_get_long(easy, CurlInfo.httpVersion) > 2
        reportSent(transfer)
        _ = remove(number)
        exchange.endWork(result, isMultiplexed: isMultiplexed)
        if code == 0 { begin(admission.setMultiplexed(isMultiplexed, exchange.origin)) }
        begin(admission.leave(exchange.origin))
    }

    private mutating func remove(_ number: UInt) -> Transfer? {
        guard let multi, let transfer = transfers.removeValue(forKey: number) else { return nil }
        uploads.remove(number)
        deadlines.remove(number)
        _ = cidm_multi_remove(multi, transfer.handle.easy)
        giveBack(transfer.handle)
        if let fields = transfer.fields { cidm_list_free(fields) }
        pools.leave(transfer.pool)
        return transfer
    }

    private func reportTurn() {
        for number in uploads {
            if let transfer = transfers[number] { reportSent(transfer) }
        }
        for exchange in loop.takeTouched() { exchange.turnEnded() }
    }

    private func reportSent(_ transfer: Transfer) {
        guard transfer.exchange.request.body != nil else { return }
        transfer.exchange.didSend(cidm_get_offset(transfer.handle.easy, CurlInfo.sizeUpload))
    }

    // MARK: Time

    private mutating func endOverdue() {
        guard !deadlines.isEmpty || pools.hasIdle else { return }
        let now = ContinuousClock.now
        for number in deadlines where transfers[number]?.deadline.map({ $0 <= now }) != false { stop(number) }
        pools.removeExpired(now)
    }

    private var timeToDeadline: Duration? {
        guard !deadlines.isEmpty || pools.hasIdle else { return nil }
        let next = deadlines.compactMap { transfers[$0]?.deadline }.min()
        return [next, pools.nextExpiry].compactMap { $0 }.min().map { max($0 - .now, .zero) }
    }

    // MARK: Handles

    private mutating func takeHandle() -> Handle? {
        if let spare = spares.popLast() { return spare }
        guard let easy = cidm_easy_init() else { return nil }
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: Self.textLength)
        return Handle(easy: easy, text: text)
    }

    private mutating func giveBack(_ handle: Handle) {
        _ = cidm_set_share(handle.easy, nil)
        cidm_easy_reset(handle.easy)
        guard spares.count < Self.spareLimit else {
            cidm_easy_cleanup(handle.easy)
            handle.text.deallocate()
            return
        }
        spares.append(handle)
    }
}
#endif
