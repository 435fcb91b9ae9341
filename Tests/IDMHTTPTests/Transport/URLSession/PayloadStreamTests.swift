#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("A file that is read where it is sent", .fewAtOnce, .timeLimit(.ample))
struct PayloadStreamTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// What it gives, at most so many bytes at a time, and whether it failed.
    private func read(_ stream: PayloadStream, by count: Int = 1_000) -> (bytes: Data, hasFailed: Bool) {
        var (bytes, buffer) = (Data(), [UInt8](repeating: 0, count: count))
        stream.open()
        while stream.hasBytesAvailable {
            let count = stream.read(&buffer, maxLength: count)
            guard count > 0 else { return (bytes, true) }
            bytes.append(contentsOf: buffer[..<count])
        }
        return (bytes, false)
    }

    @Test("a stream gives the announced length of a longer file", arguments: [1, 999, 1_000, 2_500])
    func announced(length: Int) throws {
        let bytes = filling(2_500)
        let file = try folder.file("film", bytes)

        let (found, hasFailed) = read(PayloadStream(file, length: length))

        #expect(found == bytes.prefix(length) && !hasFailed)
    }

    @Test("a stream fails at the end of a shorter file")
    func short() throws {
        let bytes = filling(2_500)

        let (found, hasFailed) = read(PayloadStream(try folder.file("film", bytes), length: 2_501))

        #expect(found == bytes && hasFailed)
    }

    @Test("fails where there is nothing, a folder, or something that keeps its readers waiting")
    func noFile() throws {
        let pipe = folder.url.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)

        for file in [folder.url.appendingPathComponent("nothing"), folder.url, pipe] {
            let (found, hasFailed) = read(PayloadStream(file, length: 10))
            #expect(found.isEmpty && hasFailed, "\(file)")
        }
    }

    @Test("a stream waits a limited time for its bytes to be freed")
    func gate() throws {
        let file = try FileHandle(forReadingFrom: try folder.file("film", filling(10_000)))
        let freeing = DispatchQueue(label: "freeing")
        let gate = BackpressureGate(limit: 4_000, patience: .milliseconds(1))
        let stream = PayloadStream(file, length: 10_000, gate: gate, freeing: freeing)
        var buffer = [UInt8](repeating: 0, count: 1_000)
        stream.open()
        freeing.suspend()
        for _ in 0..<4 { #expect(stream.read(&buffer, maxLength: 1_000) == 1_000) }
        #expect(gate.isPatient)
        // Nobody frees anything: it has waited in vain, and doesn't any more.
        #expect(stream.read(&buffer, maxLength: 1_000) == 1_000)
        #expect(!gate.isPatient)
        #expect(stream.read(&buffer, maxLength: 1_000) == 1_000)
        freeing.resume()
        freeing.sync {}
        #expect(gate.isPatient)
        // Each that has been freed was a sign that somebody frees them.
        #expect(gate.works == 12)
        for _ in 0..<4 { #expect(stream.read(&buffer, maxLength: 1_000) == 1_000) }
        #expect(!stream.hasBytesAvailable)
    }

    @Test("a stream is closed after its end or failure", arguments: [2_500, 2_501])
    func closed(length: Int) throws {
        let stream = PayloadStream(try folder.file("film", filling(2_500)), length: length)

        _ = read(stream)

        #expect(stream.streamStatus == .closed)
    }
}
#endif
