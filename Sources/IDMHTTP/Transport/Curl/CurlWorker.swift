#if os(Linux)
internal import CIDMCurl
internal import Foundation
internal import IDMCore

/// The part of a loop that belongs to its thread: libcurl's handles, and the exchanges that they work for.
struct CurlWorker: ~Copyable {
    /// A handle of libcurl, with the place for its texts.
    private struct Handle {
        let easy: OpaquePointer
        let text: UnsafeMutablePointer<CChar>

        func free() {
            cidm_easy_cleanup(easy)
            text.deallocate()
        }
    }

    private struct Transfer {
        let exchange: CurlExchange
        let handle: Handle
        let fields: OpaquePointer?
        let pool: ConnectionScope
        /// The time at which the transfer is ended. Nil for never.
        var deadline: ContinuousClock.Instant?
    }

    private static let textLength = 256
    private static let spareLimit = 64
    /// The time limit for the rest of a body that is read to keep its connection.
    private static let skipTime = Duration.seconds(1)

    private let loop: CurlLoop
    private var pools = ConnectionPools()
    private var spares: [Handle] = []
    private var transfers: [UInt: Transfer] = [:]
    private var uploads: Set<UInt> = []
    private var admission: CurlAdmission<Substring>
    private var waiting: [UInt: CurlExchange] = [:]
    private var deadlines: Set<UInt> = []
    /// The most open sockets, beyond which unused connections are closed.
    private let connectionLimit: Int
    private var isClosed = false

    init(_ loop: CurlLoop) {
        self.loop = loop
        // A process without descriptors would be ended by Dispatch.
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        let limit = min(loop.settings.connections, max(Int(clamping: descriptors.rlim_cur) / 4, 1))
        admission = CurlAdmission(hostLimit: loop.settings.connectionsPerHost, limit: limit)
        _ = cidm_multi_set_long(loop.multi, CURLMOPT_MAXCONNECTS, max(limit / 2, 1))
        connectionLimit = limit
    }

    deinit {
        for handle in spares { handle.free() }
        pools.close()
        loop.finish()
    }

    /// Works until the loop is closed and has no exchange left.
    mutating func run() {
        while true {
            perform(loop.takeCommands())
            if isClosed, transfers.isEmpty, waiting.isEmpty { return }
            loop.turn(atMost: timeToDeadline)
            finishEnded()
            reportTurn()
            endOverdue()
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
            exchange.endWork(CurlResult(code: 27), isMultiplexed: false)
            return begin(admission.leave(exchange.host))
        }
        handle.text.pointee = 0
        let fields = exchange.request.curlFields()
        exchange.request.setOptions(of: handle.easy, address: exchange.address, fields: fields)
        cidm_set_callbacks(handle.easy, exchange.number, loop.number)
        while loop.connections.withLock({ $0.count }) >= connectionLimit, pools.closeOldest() {}
        let pool = pools.enter(exchange.request)
        _ = cidm_set_pointer(handle.easy, CURLOPT_SHARE, UnsafeRawPointer(pool.share))
        transfers[exchange.number] = Transfer(exchange: exchange, handle: handle, fields: fields, pool: pool.key)
        if exchange.request.body != nil { uploads.insert(exchange.number) }
        exchange.startWork(handle.easy)
        exchange.didBegin()
        _ = cidm_multi_add(loop.multi, handle.easy)
    }

    // MARK: Ends

    private mutating func finishEnded() {
        var code: Int32 = 0
        while let easy = cidm_multi_next_ended(loop.multi, &code) { finish(cidm_get_number(easy), code) }
    }

    private mutating func finish(_ number: UInt, _ code: Int32) {
        guard let transfer = transfers[number] else { return }
        let (easy, exchange) = (transfer.handle.easy, transfer.exchange)
        if code != 0, exchange.takeStaleness() {
            // Nothing of the request has left.
            _ = cidm_multi_remove(loop.multi, easy)
            _ = cidm_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
            _ = cidm_multi_add(loop.multi, easy)
            return
        }
        let result = CurlResult(
            code: code, text: code == 0 ? "" : String(cString: transfer.handle.text),
            verification: code == 0 ? 0 : cidm_get_long(easy, CURLINFO_SSL_VERIFYRESULT),
            tunnelStatus: code == 0 ? 0 : cidm_get_long(easy, CURLINFO_HTTP_CONNECTCODE))
        let isMultiplexed = cidm_get_long(easy, CURLINFO_HTTP_VERSION) > 2
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
        _ = cidm_multi_remove(loop.multi, transfer.handle.easy)
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
        transfer.exchange.didSend(cidm_get_offset(transfer.handle.easy, CURLINFO_SIZE_UPLOAD_T))
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
        _ = cidm_set_pointer(easy, CURLOPT_ERRORBUFFER, handle.text)
        TransportRequest.setCommonOptions(of: easy, loop.settings)
        return handle
    }

    private mutating func giveBack(_ handle: Handle) {
        _ = cidm_set_pointer(handle.easy, CURLOPT_SHARE, nil)
        let isKept = CurlLibrary.canUseHandlesAgain && spares.count < Self.spareLimit
        if isKept { spares.append(handle) } else { handle.free() }
    }
}
#endif
