public import Foundation
internal import IDMCore

/// A private HTTP cache (RFC 9111). It answers requests with stored responses as the server allows, and validates those
/// that are stale. It works over every transport.
///
/// Every configuration has a cache in memory. ``init(folder:byteLimit:memoryByteLimit:)`` makes one that keeps responses
/// between launches; a configuration whose cache is nil stores nothing.
///
/// - Responses to GET are kept, whole ones only: a part (206), a body that breaks off, and one that is longer than a
///   quarter of the limit is not.
/// - A request that shows who asks (an `Authorization`, a cookie, any secret header or query item) gets only what the
///   same credentials got. Its response is kept only if the server allows it (`max-age`, `Expires`, `public`,
///   `private`, `must-revalidate` or `s-maxage`), and in memory alone. A log-in, a log-out and
///   ``ServiceCookies/removeAll()`` wipe these responses.
/// - POST, PUT, PATCH, DELETE and other methods that change something remove what is stored for their address, and for
///   the `Location` and `Content-Location` of the same origin that their response names, unless they fail.
/// - Cookies of a response aren't kept with it.
/// - Copies of a configuration share its cache.
public final class HTTPCache: Sendable {
    struct State: Sendable {
        var memory: CacheMemory
        /// Counts everything that makes stored responses invalid.
        var changes = 0
        var lastWipe = 0
        var lastPrivateWipe = 0
        /// The last change of each address. The floor is that of all addresses that aren't in here.
        var lastInvalidations: [String: Int] = [:]
        var invalidationFloor = 0
        var validating: Set<String> = []
        /// The requests on their way to the server, closed when their response is stored or can't be.
        var fetches: [CacheFetch.Key: LatestValue<Void>] = [:]
        /// The addresses whose last response couldn't be stored: requests for them don't wait for each other.
        var unstorable: Set<String> = []
    }

    private let state: Locked<State>
    let folder: CacheFolder?
    let now: @Sendable () -> Double
    private let mostOfResponse: Int

    /// Makes a cache in memory.
    ///
    /// - Parameter byteLimit: The most bytes of all responses. Those that were used longest ago go first.
    public convenience init(byteLimit: Int = 16 << 20) {
        self.init(byteLimit: byteLimit, folder: nil) { Date().timeIntervalSince1970 }
    }

    /// Makes a cache in a folder, with the responses that were used last in memory as well. The folder is made when
    /// something is kept. No file in it holds a response that was asked for with credentials.
    ///
    /// - Parameters:
    ///   - folder: The folder. It is for this cache alone; two processes may share it.
    ///   - byteLimit: The most bytes of all files together.
    ///   - memoryByteLimit: The most bytes of all responses in memory.
    public convenience init(folder: URL, byteLimit: Int = 64 << 20, memoryByteLimit: Int = 16 << 20) {
        self.init(byteLimit: memoryByteLimit, folder: CacheFolder(folder, byteLimit: byteLimit)) {
            Date().timeIntervalSince1970
        }
    }

    /// - Parameter now: The seconds since 1970.
    init(byteLimit: Int, folder: CacheFolder?, now: @escaping @Sendable () -> Double) {
        let memory = CacheMemory(byteLimit: byteLimit)
        mostOfResponse = memory.mostOfResponse
        state = Locked(State(memory: memory))
        self.folder = folder
        self.now = now
    }

    /// Removes everything, from the folder too. A response that is on its way is not kept. Throws if a file of the
    /// folder can't be removed.
    public func removeAll() async throws {
        state.withLock { state in
            state.changes += 1
            state.lastWipe = state.changes
            state.memory.removeAll()
        }
        try await folder?.removeAll()
    }

    /// Removes what was asked for with credentials. A response to such a request that is on its way is not kept.
    func removePrivate() {
        state.withLock { state in
            state.changes += 1
            state.lastPrivateWipe = state.changes
            state.memory.removePrivate()
        }
    }

    var bytesInMemory: Int { state.withLock { $0.memory.bytes } }

    // MARK: Storage

    var isEmpty: Bool { bytesInMemory == 0 }

    /// Returns true if responses of an address are in memory.
    func hasResponses(of address: String) -> Bool { state.withLock { !$0.memory.responses(of: address).isEmpty } }

    /// The last change. A response to a request from now on is kept unless another change precedes it.
    var lastChange: Int { state.withLock { $0.changes } }

    /// The stored response that can answer a request.
    func stored(for request: CacheRequest) async -> StoredResponse? {
        let change = lastChange
        if let found = inMemory(for: request) { return found }
        guard let folder, request.credentials == nil, !request.isSecret,
            let found = latest(await folder.responses(of: request.address), for: request)
        else { return nil }
        keepInMemory(found, request.address, since: change)
        return found
    }

    /// The stored response in memory that can answer a request.
    func inMemory(for request: CacheRequest) -> StoredResponse? {
        latest(state.withLock { $0.memory.responses(of: request.address) }, for: request)
    }

    private func latest(_ responses: [StoredResponse], for request: CacheRequest) -> StoredResponse? {
        responses.filter { $0.matches(request.headers, credentials: request.credentials) }
            .max { $0.responseTime < $1.responseTime }
    }

    /// Keeps a response to a request that was made after a change, unless it isn't valid any more.
    func keep(_ response: StoredResponse, for request: CacheRequest, since change: Int) {
        guard keepInMemory(response, request.address, since: change), let folder, response.isForDisk else { return }
        folder.replace(state.withLock { $0.memory.responses(of: request.address) }, of: request.address)
    }

    @discardableResult
    private func keepInMemory(_ response: StoredResponse, _ address: String, since change: Int) -> Bool {
        guard response.cost <= mostOfResponse else { return false }
        return state.withLock { state in
            let last = max(
                state.lastWipe, state.lastInvalidations[address] ?? state.invalidationFloor,
                response.credentials == nil ? 0 : state.lastPrivateWipe)
            guard last <= change else { return false }
            state.memory.keep(response, of: address)
            state.unstorable.remove(address)
            return true
        }
    }

    func invalidate(_ addresses: [String]) {
        guard !addresses.isEmpty else { return }
        state.withLock { state in
            state.changes += 1
            if state.lastInvalidations.count > 1_000 {
                (state.lastInvalidations, state.invalidationFloor) = ([:], state.changes)
            }
            for address in addresses {
                state.lastInvalidations[address] = state.changes
                state.memory.remove(address)
            }
        }
        for address in addresses { folder?.replace([], of: address) }
    }

    /// Begins to validate an address that was answered. False if that is under way.
    func beginValidation(_ address: String) -> Bool { state.withLock { $0.validating.insert(address).inserted } }

    func endValidation(_ address: String) { state.withLock { _ = $0.validating.remove(address) } }

    func noteUnstorable(_ address: String) {
        state.withLock { state in
            if state.unstorable.count >= 1_000 { state.unstorable = [] }
            state.unstorable.insert(address)
        }
    }

    /// Begins a request to the server, unless an equal one is on its way.
    func beginFetch(of request: CacheRequest) -> CacheFetch.Beginning {
        let key = CacheFetch.Key(request)
        let running = LatestValue(())
        let other = state.withLock { state -> LatestValue<Void>? in
            if let other = state.fetches[key], !state.unstorable.contains(request.address) { return other }
            state.fetches[key] = running
            return nil
        }
        if let other { return .running(other) }
        return .began(
            FinalAction { [self] in
                state.withLock { state in
                    if state.fetches[key] === running { state.fetches[key] = nil }
                }
                running.close()
            })
    }

    func canKeep(_ bytes: Int) -> Bool { bytes <= mostOfResponse }
}

extension HTTPCache: CustomStringConvertible, CustomReflectable {
    public var description: String { "HTTP cache, \(bytesInMemory) bytes in memory" }

    /// The description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The caches whose private responses go when a user does.
final class WipedCaches: Sendable {
    private struct Reference: Sendable {
        weak let cache: HTTPCache?
    }

    private let caches = Locked<[ObjectIdentifier: Reference]>([:])

    /// Notes that responses of the user may be in a cache.
    func add(_ cache: HTTPCache?) {
        guard let cache else { return }
        caches.withLock { caches in
            let id = ObjectIdentifier(cache)
            guard caches[id]?.cache == nil else { return }
            caches = caches.filter { $0.value.cache != nil }
            caches[id] = Reference(cache: cache)
        }
    }

    func wipe() {
        for reference in caches.withLock({ Array($0.values) }) { reference.cache?.removePrivate() }
    }
}
