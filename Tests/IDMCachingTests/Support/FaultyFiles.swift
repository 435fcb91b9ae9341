import Foundation
import IDMFiles

@testable import IDMCaching

/// The calls of the system, of which a test lets one fail.
final class FaultyFiles: FileLayer {
    private struct State {
        var made: [FileFault.Call] = []
        var failing: Int?
        var code: Int32 = 0
        /// Whether everything after the call fails as well.
        var isDead = false
        var isShort = false
        /// Whether there is no space until something is removed, or not then either.
        var isFull = false
        var staysFull = false
        /// Whether what is on its way takes the space as well.
        var isFullOfWrites = false
        var countsNoNames = false
        var numbersAnew = false
        var open: Set<Int32> = []
        var journals: Set<Int32> = []
        /// The folders of what is being written.
        var writing: Set<Int32> = []
        var wrongCloses = 0
        var before: (call: FileFault.Call, work: @Sendable () -> Void)?
        var failingName: FileFault.Call?
        var failingWay: FileOpening?
        var whenCalled: (@Sendable (Int) -> Void)?
    }

    private let state = Shared(State())
    private let base = POSIXFiles()

    /// The calls since the last ``fail(_:_:staysDead:)``.
    var made: [FileFault.Call] { state.value.made }
    /// Those of entries. A journal is open for as long as its cache.
    var openFiles: Int { state.value.open.count + state.value.wrongCloses }

    /// Lets a call fail, counted from now. Nil lets none fail.
    func fail(_ call: Int?, _ code: Int32 = EIO, staysDead: Bool = false) {
        state.change {
            $0.made = []
            $0.failing = call
            $0.code = code
            $0.isDead = staysDead
        }
    }

    /// Lets the next call of a name fail.
    func fail(next name: FileFault.Call, _ code: Int32) {
        state.change {
            $0.failingName = name
            $0.code = code
        }
    }

    /// Lets the next call fail that opens a file in a way.
    func fail(nextOpening way: FileOpening, _ code: Int32) {
        state.change {
            $0.failingWay = way
            $0.code = code
        }
    }

    /// Does something before each call, which gets a number, counted from now.
    func beforeEach(_ work: @escaping @Sendable (Int) -> Void) {
        state.change {
            $0.made = []
            $0.whenCalled = work
        }
    }

    /// Lets no write find any space until something was removed.
    ///
    /// - Parameters:
    ///   - staysFull: Not then either.
    ///   - ofWrites: Whether what is being written has taken some of it.
    func fillUp(forGood staysFull: Bool = false, ofWrites: Bool = false) {
        state.change { ($0.isFull, $0.staysFull, $0.isFullOfWrites) = (true, staysFull, ofWrites) }
    }

    /// Says of every file that it has no name.
    func countNoNames() {
        state.change { $0.countsNoNames = true }
    }

    /// Gives a file another number each time.
    func numberAnew() {
        state.change { $0.numbersAnew = true }
    }

    /// Lets reads and writes do less than they were asked for.
    func shorten() {
        state.change { $0.isShort = true }
    }

    /// Does something, once, just before the next call of a name.
    func before(next call: FileFault.Call, _ work: @escaping @Sendable () -> Void) {
        state.change { $0.before = (call, work) }
    }

    private func enter(_ call: FileFault.Call) throws(FileFault) {
        let (number, each, once) = state.change { state in
            let once = state.before?.call == call ? state.before : nil
            if once != nil { state.before = nil }
            return (state.made.count, state.whenCalled, once?.work)
        }
        each?(number)
        once?()
        let fault: FileFault? = state.change { state in
            let number = state.made.count
            state.made.append(call)
            if state.failingName == call {
                state.failingName = nil
                return FileFault(call: call, code: state.code)
            }
            guard let failing = state.failing, number == failing || (state.isDead && number > failing) else {
                return nil
            }
            return FileFault(call: call, code: state.code)
        }
        if let fault { throw fault }
    }

    private var most: Int { state.value.isShort ? 7 : .max }

    func open(_ place: FilePlace, _ way: FileOpening) throws(FileFault) -> Int32 {
        if state.value.failingWay == way {
            state.change { $0.failingWay = nil }
            fail(next: .open, state.value.code)
        }
        try enter(.open)
        let file = try base.open(place, way)
        state.change { state in
            switch way {
            case .appending, .appendingIfThere: state.journals.insert(file)
            case .reading, .writing, .creating, .creatingForAll, .folder, .namedFolder: state.open.insert(file)
            }
            if way == .folder, place.name == DiskFolder.writing { state.writing.insert(file) }
        }
        return file
    }

    func status(_ file: Int32) throws(FileFault) -> FileStatus {
        try enter(.status)
        return counted(try base.status(file))
    }

    func status(at place: FilePlace) throws(FileFault) -> FileStatus {
        try enter(.status)
        return counted(try base.status(at: place))
    }

    private func counted(_ status: FileStatus) -> FileStatus {
        var status = status
        if state.value.countsNoNames { status.links = 0 }
        if state.value.numbersAnew { status.identity.number = .random(in: .min ... .max) }
        return status
    }

    func read(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        try enter(.read)
        return try base.read(file, UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(most)), at: offset)
    }

    func lock(_ file: Int32, waits: Bool) throws(FileFault) {
        try enter(.lock)
        try base.lock(file, waits: waits)
    }

    func duplicate(_ file: Int32) throws(FileFault) -> Int32 {
        try enter(.duplicate)
        let copy = try base.duplicate(file)
        state.change { _ = $0.journals.insert(copy) }
        return copy
    }

    func unlock(_ file: Int32) throws(FileFault) {
        // Also one that fails: a lock that stays would let the test hang, as it would everybody else.
        try base.unlock(file)
        try enter(.unlock)
    }

    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64?) throws(FileFault) -> Int {
        try enter(.write)
        if state.value.isFull { throw FileFault(call: .write, code: ENOSPC) }
        return try base.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(most)), at: offset)
    }

    func touch(_ file: Int32, _ time: Int64) throws(FileFault) {
        try enter(.touch)
        try base.touch(file, time)
    }

    func synchronize(_ file: Int32) throws(FileFault) {
        // Not done: nobody here can tell, and a disk takes its time.
        try enter(.synchronize)
    }

    func close(_ file: Int32) throws(FileFault) {
        // Also one that fails has closed the file.
        state.change {
            if $0.open.remove(file) == nil, $0.journals.remove(file) == nil { $0.wrongCloses += 1 }
            $0.writing.remove(file)
        }
        try base.close(file)
        try enter(.close)
    }

    func rename(_ place: FilePlace, _ target: FilePlace) throws(FileFault) {
        try enter(.rename)
        try base.rename(place, target)
    }

    func remove(_ place: FilePlace) throws(FileFault) {
        try enter(.remove)
        try base.remove(place)
        // What a failed write leaves has taken no space.
        state.change { state in
            let wasBeingWritten = place.folder.map { state.writing.contains($0) } ?? false
            if state.isFullOfWrites || !wasBeingWritten { state.isFull = state.staysFull }
        }
    }

    func makeFolder(_ place: FilePlace) throws(FileFault) {
        try enter(.makeFolder)
        try base.makeFolder(place)
    }

    func names(in folder: Int32) throws(FileFault) -> [String] {
        try enter(.names)
        return try base.names(in: folder)
    }

    var session: String? { base.session }
    func cut(_ file: Int32, to length: Int64) throws(FileFault) { try base.cut(file, to: length) }
    func permit(_ file: Int32, _ mode: UInt32) throws(FileFault) { try base.permit(file, mode) }
    func link(_ place: FilePlace, _ target: FilePlace) throws(FileFault) { try base.link(place, target) }
}
