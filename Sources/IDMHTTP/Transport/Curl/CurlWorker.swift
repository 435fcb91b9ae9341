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
    private let multi: OpaquePointer
    private var pools = ConnectionPools()
    private var spares: [Handle] = []
    private var transfers: [UInt: Transfer] = [:]
    private var uploads: Set<UInt> = []
    private var admission: CurlAdmission<Substring>
    private var waiting: [UInt: CurlExchange] = [:]
    private var deadlines: Set<UInt> = []
    private var isClosed = false
    private var begunCount = 0

    init(_ loop: CurlLoop, _ multi: OpaquePointer) {
        self.loop = loop
        self.multi = multi
        admission = CurlAdmission(hostLimit: loop.settings.connectionsPerHost, limit: loop.settings.connections)
        _ = cidm_multi_set_long(multi, CurlOption.maxConnects, loop.settings.connections)
    }

    deinit {
        for handle in spares {
            cidm_easy_cleanup(handle.easy)
            handle.text.deallocate()
        }
        pools.close()
        cidm_multi_cleanup(multi)
        loop.finish()
    }

    /// Works until the loop is closed and has no exchange left.
    mutating func run() {
        while true {
            perform(loop.takeCommands())
            _ = cidm_multi_perform(multi)
            let hasNews = finishEnded()
            reportTurn()
            endOverdue()
            if isClosed, transfers.isEmpty, waiting.isEmpty { return }
            // What has begun or ended just now may let libcurl do more, which no poll would notice.
            if !hasNews { loop.sleep(multi, atMost: timeToDeadline) }
        }
    }

    // MARK: Commands

    private mutating func perform(_ commands: [CurlLoop.Command]) {
        for command in commands {
            switch command {
            case .start(let exchange):
                // A cancel may have overtaken it.
                guard exchange.isAwaiting else { continue }
                if admission.enter(exchange.number, exchange.host) {
                    begin(exchange)
                } else {
                    waiting[exchange.number] = exchange
                    exchange.didQueue()
                }
            case .stop(let number): stop(number)
            case .resume(let number): resume(number)
            case .skip(let number):
                guard transfers[number] != nil else { continue }
                transfers[number]?.deadline = .now + Self.skipTime
                deadlines.insert(number)
                resume(number)
            case .close: isClosed = true
            }
        }
    }

    private func resume(_ number: UInt) {
        if let transfer = transfers[number] { _ = cidm_easy_pause(transfer.handle.easy, 0) }
    }

    private mutating func stop(_ number: UInt) {
        if let exchange = waiting.removeValue(forKey: number) {
            exchange.endWork(nil, isMultiplexed: false)
            begin(admission.cancel(number, exchange.host))
        } else if let transfer = remove(number) {
            transfer.exchange.endWork(nil, isMultiplexed: false)
            begin(admission.leave(transfer.exchange.host))
        }
    }

    private mutating func begin(_ numbers: [UInt]) {
        for number in numbers {
            if let exchange = waiting.removeValue(forKey: number) { begin(exchange) }
        }
    }

    private mutating func begin(_ exchange: CurlExchange) {
        guard let handle = takeHandle() else {
            exchange.endWork(
                CurlResult(code: 27, text: "", verification: 0, tunnelStatus: 0), isMultiplexed: false)
            return begin(admission.leave(exchange.host))
        }
        handle.text.pointee = 0
        let fields = exchange.request.curlFields()
        exchange.request.setOptions(of: handle.easy, address: exchange.address, fields: fields)
        cidm_set_callbacks(handle.easy, exchange.number, loop.number)
        let pool = pools.enter(exchange.request)
        _ = cidm_set_share(handle.easy, pool.share)
        transfers[exchange.number] = Transfer(exchange: exchange, handle: handle, fields: fields, pool: pool.key)
        if exchange.request.body != nil { uploads.insert(exchange.number) }
        exchange.startWork(handle.easy)
        exchange.didBegin()
        begunCount += 1
        _ = cidm_multi_add(multi, handle.easy)
    }

    // MARK: Ends

    /// Returns whether libcurl may have more to do at once.
    private mutating func finishEnded() -> Bool {
        var hasNews = false
        var code: Int32 = 0
        let begun = begunCount
        while let easy = cidm_multi_next_ended(multi, &code) {
            // Others over the same connection may have bytes that libcurl has read already.
            hasNews = hasNews || cidm_get_long(easy, CurlInfo.httpVersion) > 2
            finish(cidm_get_number(easy), code)
        }
        return hasNews && !transfers.isEmpty || begunCount != begun
    }

    private mutating func finish(_ number: UInt, _ code: Int32) {
        guard let transfer = transfers[number] else { return }
        let (easy, exchange) = (transfer.handle.easy, transfer.exchange)
        if code != 0, exchange.takeStaleness() {
            // Nothing of the request has left.
            _ = cidm_multi_remove(multi, easy)
            _ = cidm_set_long(easy, CurlOption.freshConnect, 1)
            _ = cidm_multi_add(multi, easy)
            begunCount += 1
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
        if code == 0 { begin(admission.setMultiplexed(isMultiplexed, exchange.host)) }
        begin(admission.leave(exchange.host))
    }

    private mutating func remove(_ number: UInt) -> Transfer? {
        guard let transfer = transfers.removeValue(forKey: number) else { return nil }
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
        let handle = Handle(easy: easy, text: .allocate(capacity: Self.textLength))
        cidm_set_error_buffer(easy, handle.text)
        TransportRequest.setCommonOptions(of: easy, loop.settings)
        return handle
    }

    private mutating func giveBack(_ handle: Handle) {
        _ = cidm_set_share(handle.easy, nil)
        guard spares.count < Self.spareLimit else {
            cidm_easy_cleanup(handle.easy)
            handle.text.deallocate()
            return
        }
        spares.append(handle)
    }
}
#endif
