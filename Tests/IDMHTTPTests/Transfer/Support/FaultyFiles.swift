import Foundation
import IDMFiles
import IDMTesting

@testable import IDMHTTP

/// The calls of the system, of which a test lets one fail.
final class FaultyFiles: FileLayer {
    private struct State: Sendable {
        var made: [FileFault.Call] = []
        var failing: Int?
        var call: FileFault.Call?
        var code: Int32 = 0
        var isDead = false
        var isShort = false
        var open: Set<Int32> = []
        /// How many are being closed, and may still be locked.
        var closing = 0
        var wrongCloses = 0
        var session: String?
        var before: (call: FileFault.Call, work: @Sendable () -> Void)?
        var failsNext: FileFault?
    }

    private let state: Observed<State>
    private let base = POSIXFiles()
    private let device: UInt64

    /// - Parameter device: By how much the numbers of the devices differ from what they are.
    init(session: String? = "now", device: UInt64 = 0) {
        var first = State()
        first.session = session
        state = Observed(first)
        self.device = device
    }

    var session: String? { state.value.session }
    var made: [FileFault.Call] { state.value.made }
    var openFiles: Int { state.value.open.count + state.value.closing + state.value.wrongCloses }

    /// Waits until no file is open, or locked.
    func allClosed() async throws {
        try await state.wait { $0.open.isEmpty && $0.closing == 0 }
    }

    /// Lets the call of a number fail, and everything behind it as well if the process is to be as good as dead.
    func fail(_ number: Int?, _ code: Int32 = EIO, staysDead: Bool = false) {
        state.change {
            ($0.made, $0.failing, $0.call, $0.code, $0.isDead) = ([], number, nil, code, staysDead)
        }
    }

    /// Lets each call of a kind fail.
    func fail(each call: FileFault.Call?, _ code: Int32 = EIO) {
        state.change { ($0.made, $0.failing, $0.call, $0.code) = ([], nil, call, code) }
    }

    /// Lets the next call of a kind fail, also the one that is being made.
    func failNext(_ call: FileFault.Call, _ code: Int32 = EIO) {
        state.change { $0.failsNext = FileFault(call: call, code: code) }
    }

    /// Lets reads and writes do less than they were asked for.
    func shorten() { state.change { $0.isShort = true } }

    /// Does something, once, just before the next call of a kind.
    func before(_ call: FileFault.Call, _ work: @escaping @Sendable () -> Void) {
        state.change { $0.before = (call, work) }
    }

    private func enter(_ call: FileFault.Call) throws(FileFault) {
        let (fault, work): (FileFault?, (@Sendable () -> Void)?) = state.change { state in
            let number = state.made.count
            state.made.append(call)
            if state.call == call { return (FileFault(call: call, code: state.code), nil) }
            if let failing = state.failing, number == failing || (state.isDead && number > failing) {
                return (FileFault(call: call, code: state.code), nil)
            }
            guard let before = state.before, before.call == call else { return (nil, nil) }
            state.before = nil
            return (nil, before.work)
        }
        work?()
        if let fault { throw fault }
        let next: FileFault? = state.change { state in
            guard state.failsNext?.call == call else { return nil }
            defer { state.failsNext = nil }
            return state.failsNext
        }
        if let next { throw next }
    }

    private var most: Int { state.value.isShort ? 7 : .max }

    func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32 {
        try enter(.open)
        let file = try base.open(place, way)
        state.change { _ = $0.open.insert(file) }
        return file
    }

    func status(_ file: Int32) throws(FileFault) -> FileStatus {
        try enter(.status)
        return moved(try base.status(file))
    }

    func status(at place: FilePlace) throws(FileFault) -> FileStatus {
        try enter(.status)
        return moved(try base.status(at: place))
    }

    private func moved(_ status: FileStatus) -> FileStatus {
        var status = status
        status.identity.device &+= device
        return status
    }

    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        try enter(.read)
        return try base.read(file, UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(most)), at: offset)
    }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        try enter(.write)
        return try base.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(most)), at: offset)
    }

    func cut(_ file: Int32, to length: Int64) throws(FileFault) {
        try enter(.cut)
        try base.cut(file, to: length)
    }

    func lock(_ file: Int32, waits: Bool) throws(FileFault) {
        try enter(.lock)
        try base.lock(file, waits: waits)
    }

    func permit(_ file: Int32, _ mode: UInt32) throws(FileFault) {
        try enter(.permit)
        try base.permit(file, mode)
    }

    func synchronize(_ file: Int32) throws(FileFault) {
        // Not done: nobody here can tell, and a disk takes its time.
        try enter(.synchronize)
    }

    func close(_ file: Int32) throws(FileFault) {
        // One that fails, or comes after the end of the process, closes the file as well.
        // Its number is another one's as soon as it is closed.
        state.change {
            if $0.open.remove(file) == nil { $0.wrongCloses += 1 }
            $0.closing += 1
        }
        defer { state.change { $0.closing -= 1 } }
        try base.close(file)
        try enter(.close)
    }

    func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault) {
        try enter(.rename)
        try base.rename(place, target)
    }

    func link(_ place: FilePlace, _ target: FilePlace) throws(FileFault) {
        try enter(.link)
        try base.link(place, target)
    }

    func remove(_ place: FilePlace) throws(FileFault) {
        try enter(.remove)
        try base.remove(place)
    }

    // Not counted: it stands beside a close.
    func unlock(_ file: Int32) throws(FileFault) { try base.unlock(file) }
    func touch(_ file: Int32, _ time: Int64) throws(FileFault) { try base.touch(file, time) }
    func duplicate(_ file: Int32) throws(FileFault) -> Int32 { try base.duplicate(file) }
    func makeFolder(_ place: FilePlace) throws(FileFault) { try base.makeFolder(place) }
    func names(in folder: Int32) throws(FileFault) -> [String] { try base.names(in: folder) }
}
