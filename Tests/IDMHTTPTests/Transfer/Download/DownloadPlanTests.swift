import IDMFiles
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The plan of a download", .timeLimit(.ample))
struct DownloadPlanTests {
    @Test("Whatever is there and whatever the server says, the file is of one object, and whole", .offThePool)
    func explored() {
        let exploration = Exploration(of: Assembly())
        #expect(exploration.violation == nil)
        #expect(exploration.states > 500 && exploration.moves > 10_000, "\(exploration.states), \(exploration.moves)")
    }

    @Test("A range without its start, or with a length that overflows, is none")
    func overflow() {
        let file = FileIdentity(device: 1, number: 1)
        var sidecar = DownloadSidecar(
            object: "o", validator: "\"v\"", total: nil, suggestedName: nil, file: file, session: "s")
        let part = FileStatus(kind: .file, size: .max, identity: file, mode: 0o600)
        let plan = DownloadPlan(sidecar: sidecar, part: part, object: "o", size: nil, session: "s")
        #expect(plan == .goOn(from: .max - 1, validator: "\"v\"", total: nil))
        #expect(plan.verdict(on: 206, ["Content-Range": "bytes 0-1/2"], size: nil) == .askAnew)
        sidecar.total = 5
        #expect(DownloadPlan(sidecar: sidecar, part: part, object: "o", size: nil, session: "s") == .anew)
    }

    @Test("What is empty, or of an object that can't be told again, is begun anew", arguments: ["\"v\"", nil])
    func nothingToGoOnWith(validator: String?) {
        let file = FileIdentity(device: 1, number: 1)
        let sidecar = DownloadSidecar(
            object: "o", validator: validator, total: 9, suggestedName: nil, file: file, session: "s")
        let plans = [0, 5].map { size in
            DownloadPlan(
                sidecar: sidecar, part: FileStatus(kind: .file, size: size, identity: file, mode: 0o600), object: "o",
                size: nil, session: "s")
        }
        #expect(plans == [.anew, validator.map { .goOn(from: 5, validator: $0, total: 9) } ?? .anew])
    }

    @Test("A part that nobody asked for fails the download, unless it is the whole")
    func unasked() {
        #expect(DownloadPlan.anew.verdict(on: 206, ["Content-Range": "bytes 0-4/10"], size: nil) == .fail(.unaskedPart))
        #expect(DownloadPlan.anew.verdict(on: 206, [:], size: nil) == .fail(.unaskedPart))
        #expect(
            DownloadPlan.anew.verdict(on: 206, ["Content-Range": "bytes 0-9/10"], size: nil)
                == .take(from: 0, end: 10, total: 10))
    }

    @Test("A range that the length contradicts is none, and a tag of nothing is no tag")
    func contradiction() {
        let plan = DownloadPlan.goOn(from: 5, validator: "\"v\"", total: 10)
        func verdict(_ plan: DownloadPlan, _ range: String, length: Int64) -> DownloadPlan.Verdict {
            plan.verdict(
                on: 206, ["ETag": "\"v\"", "Content-Range": "bytes \(range)", "Content-Length": "\(length)"], size: nil)
        }
        #expect(verdict(plan, "5-9/10", length: 5) == .take(from: 5, end: 10, total: 10))
        for length in [0, 4, 6, 10, Int64.max - 1] { #expect(verdict(plan, "5-9/10", length: length) == .askAnew) }
        #expect(verdict(.anew, "0-9/10", length: 10) == .take(from: 0, end: 10, total: 10))
        #expect(verdict(.anew, "0-9/10", length: 9) == .fail(.unaskedPart))
        #expect(verdict(.anew, "0-\(Int64.max)/*", length: .max) == .fail(.unaskedPart))
        let headers: [ServiceHeaders] = [["ETag": "\"\""], ["ETag": "\""], ["ETag": "\"a\""]]
        #expect(headers.map(\.strongValidator) == [nil, nil, "\"a\""])
    }

    @Test("Whether a part ends the whole is known from the server, from before or from the caller, or not at all")
    func unknownEnd() {
        let part: ServiceHeaders = ["Content-Range": "bytes 5-7/*", "ETag": "\"v\""]
        let plan = DownloadPlan.goOn(from: 5, validator: "\"v\"", total: nil)
        #expect(plan.verdict(on: 206, part, size: nil) == .askAnew)
        #expect(plan.verdict(on: 206, part, size: 10) == .take(from: 5, end: 8, total: 10))
        let known = DownloadPlan.goOn(from: 5, validator: "\"v\"", total: 10)
        #expect(known.verdict(on: 206, part, size: nil) == .take(from: 5, end: 8, total: 10))
    }

    @Test("A part without the tag that it would have to carry isn't taken for one of the same object")
    func untold() {
        let part: ServiceHeaders = ["Content-Range": "bytes 5-9/10"]
        let tagged = DownloadPlan.goOn(from: 5, validator: "\"v\"", total: 10)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let dated = DownloadPlan.goOn(from: 5, validator: date, total: 10)
        let taken = DownloadPlan.Verdict.take(from: 5, end: 10, total: 10)
        let cases: [(ServiceHeaders, byTag: DownloadPlan.Verdict, byDate: DownloadPlan.Verdict)] = [
            ([:], .askAnew, taken), (["ETag": "\"v\""], taken, .askAnew), (["ETag": "\"w\""], .askAnew, .askAnew),
            (["ETag": "W/\"v\""], .askAnew, taken), (["Last-Modified": "\(date)"], .askAnew, taken),
            (["Last-Modified": "\(date)", "ETag": "\"v\""], taken, taken),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"], .askAnew, .askAnew),
        ]
        for (headers, byTag, byDate) in cases {
            #expect(tagged.verdict(on: 206, part.merging(headers), size: nil) == byTag, "\(headers)")
            #expect(dated.verdict(on: 206, part.merging(headers), size: nil) == byDate, "\(headers)")
        }
    }

    @Test("What is packed has no length and no parts")
    func packed() {
        let headers: ServiceHeaders = ["Content-Encoding": "gzip", "Content-Length": "10", "ETag": "\"v\""]
        #expect(DownloadPlan.anew.verdict(on: 200, headers, size: 50) == .take(from: 0, end: nil, total: nil))
        #expect(headers.strongValidator == nil)
        let plan = DownloadPlan.goOn(from: 5, validator: "\"v\"", total: 10)
        var part = headers
        part["Content-Range"] = "bytes 5-9/10"
        #expect(plan.verdict(on: 206, part, size: nil) == .askAnew)
    }
}

/// A download of an object of three bytes that changes at any time, from a server that does as it likes, by processes
/// that end at any time, on a system that does too. Each byte of the part is the version of the object that it is of.
private struct Assembly: Explorable {
    enum Move: CustomStringConvertible {
        case change, process, system, disk, synchronize
        case answer(Answer, bytes: Int)

        var description: String {
            switch self {
            case .change: "the object changes"
            case .process: "the process ends"
            case .system: "the system ends"
            case .disk: "the disk is taken away and connected again"
            case .synchronize: "paused"
            case .answer(let answer, let bytes): "\(answer), \(bytes) bytes of it"
            }
        }
    }

    enum Answer: CaseIterable {
        case right, whole, untold, early, late, otherTotal, noRange, unsatisfiable, oneByte, openEnd, wrongTag
    }

    struct Footprint: Hashable {
        let version: Int
        let length: Int
        let part: [Int]
        let sidecar: DownloadSidecar?
        let session: Int
        let file: FileIdentity
        let isDone: Bool
        let budget: Int
    }

    private var version = 0
    private var part: [Int] = []
    private var sidecar: DownloadSidecar?
    private var session = 0
    private var isDone = false
    private var budget = 8
    private var file = FileIdentity(device: 1, number: 1)

    /// The second version is shorter, and the third as long as the first.
    private var length: Int { version == 1 ? 2 : 3 }

    var footprint: Footprint {
        Footprint(
            version: version, length: length, part: part, sidecar: sidecar, session: session, file: file,
            isDone: isDone, budget: budget)
    }

    var moves: [Move] {
        guard !isDone, budget > 0 else { return [] }
        let answers = Answer.allCases.flatMap { answer in (0...3).map { Move.answer(answer, bytes: $0) } }
        return [.process, .synchronize] + (version < 2 ? [.change] : []) + (session < 1 ? [.system] : [])
            + (file.device < 2 ? [.disk] : []) + answers
    }

    mutating func make(_ move: Move) throws(Violation) {
        budget -= 1
        switch move {
        case .change: version += 1
        case .process: break
        case .synchronize:
            open()
            if sidecar != nil { sidecar?.synchronized = Int64(part.count) }
        case .system:
            session += 1
            lose()
        case .disk:
            file.device += 1
            lose()
        case .answer(let answer, let bytes): try take(answer, bytes)
        }
    }

    /// What wasn't on the disk is lost: nobody knows what is there.
    private mutating func lose() {
        let sure = Int(sidecar?.synchronized ?? 0)
        part = part.enumerated().map { $0.offset < sure ? $0.element : -1 }
    }

    private var status: FileStatus {
        FileStatus(kind: .file, size: Int64(part.count), identity: file, mode: 0o600)
    }

    /// Cuts the part to what is trusted of it.
    private mutating func open() {
        guard let known = sidecar else { return }
        let trusted = Int(known.trusted(of: status, session: "\(session)"))
        part.removeLast(part.count - trusted)
        sidecar?.take(up: file, session: "\(session)", at: Int64(trusted))
    }

    private mutating func take(_ answer: Answer, _ bytes: Int) throws(Violation) {
        let session = "\(session)"
        let plan = DownloadPlan(sidecar: sidecar, part: status, object: "o", size: nil, session: session)
        if plan != .anew { open() }
        let (code, headers, first, last) = respond(answer, to: plan)
        guard code != 416 else {
            try require(plan != .anew, "a whole was asked for, and a part refused")
            return
        }
        guard case .take(let from, let end, let total) = plan.verdict(on: code, headers, size: nil) else { return }
        try require(from == first, "byte \(from) is taken for byte \(first)")
        if from == 0 {
            part = []
            sidecar = DownloadSidecar(
                object: "o", validator: headers.strongValidator, total: total, suggestedName: nil, file: file,
                session: session)
        } else {
            sidecar?.total = total
        }
        let surplus = part.count - Int(from)
        let body = Array(repeating: version, count: max(min(last - first, bytes), 0))
        part += body.dropFirst(surplus)
        try require(surplus >= 0, "a hole is left")
        try require(!part.contains(-1), "what may be lost is trusted")
        try require(Set(part).count <= 1, "the part is of two objects: \(part)")
        guard body.count == last - first, end.map({ Int($0) == last }) ?? true,
            total.map({ Int($0) == part.count }) ?? true
        else { return }
        isDone = true
        try require(part == Array(repeating: version, count: length), "the file is \(part)")
    }

    /// What a server says, and which bytes come.
    private func respond(_ answer: Answer, to plan: DownloadPlan) -> (Int, ServiceHeaders, first: Int, last: Int) {
        let tag = "\"\(version)\""
        let whole = (200, ["ETag": tag, "Content-Length": "\(length)"] as ServiceHeaders, 0, length)
        guard case .goOn(let from, let validator, _) = plan else {
            if answer == .untold { return (200, ["ETag": tag], 0, length) }
            return whole
        }
        let first = Int(from)
        func part(_ range: String, tag: String, _ from: Int, _ last: Int) -> (Int, ServiceHeaders, Int, Int) {
            (206, ["ETag": tag, "Content-Range": "bytes \(range)"], from, last)
        }
        if answer == .wrongTag, first < length {
            return part("\(first)-\(length - 1)/\(length)", tag: tag, first, length)
        }
        guard validator == tag else { return whole }
        switch answer {
        case .whole, .untold, .wrongTag: return whole
        case .right: return part("\(first)-\(length - 1)/\(length)", tag: tag, first, length)
        case .oneByte: return part("\(first)-\(first)/\(length)", tag: tag, first, first + 1)
        case .openEnd: return part("\(first)-\(first)/*", tag: tag, first, first + 1)
        case .early: return part("\(first - 1)-\(length - 1)/\(length)", tag: tag, first - 1, length)
        case .late: return part("\(first + 1)-\(length)/\(length + 1)", tag: tag, first + 1, length)
        case .otherTotal: return part("\(first)-\(length)/\(length + 1)", tag: "\"9\"", first, length)
        case .noRange: return (206, ["ETag": tag], first, length)
        case .unsatisfiable: return (416, ["Content-Range": "bytes */\(length)"], 0, 0)
        }
    }
}
