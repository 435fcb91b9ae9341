public import Foundation
internal import IDMCore

/// A private HTTP cache (RFC 9111). It answers requests with stored responses as the server allows, and validates those
/// that are stale. It works over every transport.
///
/// Every configuration has a cache in memory. ``init(folder:byteLimit:memoryByteLimit:)`` makes one that keeps responses
/// between launches; a configuration whose cache is nil stores nothing.
///
/// - Responses to GET are kept, whole ones only: a part (206), a body that breaks off, and one that is longer than a
///   quarter of the limit is not. They are kept at the end of the body, before response rules apply.
/// - Requests with conditions or a `Range` pass by the cache. One with `only-if-cached` fails if nothing is stored.
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
        /// Counts everything that makes stored responses invalid or replaces them.
        var changes = 0
        var lastWipe = 0
        var lastPrivateWipe = 0
        var invalidations = LastChanges()
        /// The responses that were kept. One that was read from the folder before is older.
        var keeps = LastChanges()
        var validating: Set<String> = []
        /// The requests on their way to the server, closed when their response is stored or can't be.
        var fetches: [CacheFetch.Key: LatestValue<Void>] = [:]
        /// The addresses whose last response couldn't be stored: requests for them don't wait for each other.
        var unstorable: Set<String> = []
    }

    /// The last change of each address.
    struct LastChanges: Sendable {
        private var changes: [String: Int] = [:]
        /// That of all addresses that aren't in the table.
        private var floor = 0

        subscript(address: String) -> Int { changes[address] ?? floor }

        mutating func note(_ change: Int, of address: String) {
            if changes.count > 1_000 { (changes, floor) = ([:], change) }
            changes[address] = change
        }
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
        state.withLock { state in
            guard found.cost <= mostOfResponse, state.isValid(found, of: request.address, since: change),
                state.keeps[request.address] <= change
            else { return }
            state.memory.keep(found, of: request.address)
        }
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
        let address = request.address
        guard response.cost <= mostOfResponse else { return }
        // One that isn't for the disk replaces the one that is there all the same.
        let isInFolder =
            folder != nil && response.credentials == nil && (response.isForDisk || !request.isSecret)
        state.withLock { state in
            guard state.isValid(response, of: address, since: change) else { return }
            state.changes += 1
            state.keeps.note(state.changes, of: address)
            state.memory.keep(response, of: address)
            state.unstorable.remove(address)
            // Under the lock, so that the folder gets the responses in the order in which memory got them.
            if isInFolder { folder?.replace(state.memory.responses(of: address), of: address) }
        }
    }

    func invalidate(_ addresses: [String]) {
        guard !addresses.isEmpty else { return }
        state.withLock { state in
            state.changes += 1
            for address in addresses {
                state.invalidations.note(state.changes, of: address)
                state.memory.remove(address)
                folder?.replace([], of: address)
            }
        }
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

extension HTTPCache.State {
    /// Returns true unless something made a response to a request invalid after that was made.
    fileprivate func isValid(_ response: StoredResponse, of address: String, since change: Int) -> Bool {
        max(lastWipe, invalidations[address], response.credentials == nil ? 0 : lastPrivateWipe) <= change
    }
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
