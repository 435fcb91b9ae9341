import Foundation
import IDMCore
import IDMFiles
import IDMTesting
import Observation
import TestSupport
import Testing

@testable import IDMHTTP

/// Those who follow transfers, and groups of them.
extension TransferCenterTests {
    @Test("Who follows one that has just been resumed hears nothing of its failure before")
    func resumedFailure() async throws {
        let signals = hold(["b"])
        objects["a"].change { $0.status = 500 }
        let center = TransferCenter(try service())
        center.download(download("a"), id: "a")
        await #expect(throws: HTTPError.self) { try await center.result(of: "a") }
        objects["a"].change { $0.status = nil }
        center.download(download("b"), id: "b")
        try await objects["b"].log.contains("3000")

        // Resumed where another one's state is being told, so that its own is still to be.
        let followed = Observed<Task<TransferResult, any Error>?>(nil)
        center.watch { id, state in
            guard id == "b", case .paused? = state else { return }
            center.resume("a")
            followed.change { $0 = center.resultFromHere(of: "a") }
        }
        center.pause("b")
        // Whoever tells of something just then tells of this as well, and maybe later.
        try await followed.wait { $0 != nil }
        let task = try #require(followed.value)
        #expect(try await task.value.file?.url == file("a"))
        signals["b"]?.open()
        await center.close()
    }

    @Test("The last that is heard of a group is the whole of it")
    func lastOfGroup() async throws {
        for round in 0..<Volume.of(2_000, normally: 30) {
            let center = TransferCenter(try service())
            let ids = ["a\(round)", "b\(round)"]
            for id in ids { center.download(download(id), id: id) }
            var last: TransferProgress?
            for await progress in center.progresses(of: ids) { last = progress }
            #expect(last?.completed == 20_000 && last?.fraction == 1)
            await center.close()
        }
    }

    @Test("Any number may follow, and each hears the states in order and the last one for sure")
    func followers() async throws {
        let signals = hold(["a"])
        let center = TransferCenter(try service())
        center.download(download("a"), id: "a")
        let followers = (0..<20).map { _ in
            Task {
                var states: [TransferState] = []
                for await state in center.states(of: "a") { states.append(state) }
                return states
            }
        }
        try await objects["a"].log.contains("3000")
        signals["a"]?.open()
        for follower in followers {
            let states = await follower.value
            let completed = states.compactMap { $0.progress?.completed }
            #expect(completed == completed.sorted() && completed.allSatisfy { $0 <= 10_000 })
            guard case .finished? = states.last else { throw Violation("\(states)") }
            #expect(states.count { $0.isOver } == 1)
        }
    }

    @Test("Whoever stops to follow is left alone, and holds nobody up")
    func leaving() async throws {
        let signals = hold(["a"])
        let center = TransferCenter(try service())
        center.download(download("a"), id: "a")
        let follower = Task { for await _ in center.states(of: "a") {} }
        follower.cancel()
        await follower.value
        let waiter = Task { try await center.result(of: "a") }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        signals["a"]?.open()
        _ = try await center.result(of: "a")
        #expect(isWhole("a"))
    }

    @Test("A group's progress is that of its bytes, never goes backwards, and ends when all of them are over")
    func group() async throws {
        let ids = ["a", "b", "c"]
        let signals = hold(ids)
        let center = TransferCenter(try service(), width: 2)
        for id in ids { center.download(download(id), id: id) }
        let follower = Task {
            var heard: [TransferProgress] = []
            for await progress in center.progresses(of: ids) { heard.append(progress) }
            return heard
        }
        for id in ids {
            try await objects[id].log.contains("3000")
            signals[id]?.open()
        }
        let heard = await follower.value
        let fractions = heard.compactMap(\.fraction)
        #expect(fractions == fractions.sorted() && fractions.last == 1)
        #expect(heard.last?.completed == 30_000 && heard.last?.total == 30_000)
    }

    @Test("Of none there is no fraction, and of those with and without a total the mean is")
    func ofNone() async throws {
        let center = TransferCenter(try service())
        #expect(center.progress().fraction == nil && center.progress().total == nil)
        objects["a"].change { $0.breaksAfter = 4_000 }
        center.download(download("a"), id: "a")
        _ = try? await center.result(of: "a")
        #expect(center.progress(of: ["a"]).fraction == nil && center.progress(of: ["a"]).completed == 0)
        var progresses = center.progresses(of: ["a"]).makeAsyncIterator()
        #expect(await progresses.next()?.fraction == nil)
        let known = TransferProgress(completed: 5, total: 10)
        let unknown = TransferProgress(completed: 7)
        #expect(TransferProgress.sum(of: [unknown]).fraction == nil)
        #expect(TransferProgress.sum(of: [known, unknown]).fraction == 0.25)
        #expect(TransferProgress.sum(of: [known, known]).fraction == 0.5)
        #expect(TransferProgress.sum(of: [TransferProgress(completed: 0, total: 0)]).fraction == 1)
    }

    @Test("Each of a group counts once, and what has come of it together is never less than before")
    func counted() async throws {
        let center = TransferCenter(try service())
        center.download(download("a"), id: "a")
        _ = try await center.result(of: "a")
        #expect(center.progress(of: ["a", "a", "b"]).completed == 10_000)

        var last: TransferGroup?
        let heard = [Int64(2), 5, 3, 6].map { count in
            let group = TransferGroup(progress: TransferProgress(completed: count), members: 1, isOver: false)
            last = group.after(last)
            return last?.progress.completed
        }
        #expect(heard == [2, 5, 5, 6])
    }

    @Test(
        "Who follows a group hears what there is of it once others count, and not what there was",
        arguments: [true, false])
    func otherMembers(isRemoved: Bool) async throws {
        let signals = hold(["b"])
        let center = TransferCenter(try service())
        for id in ["a", "b"] { center.download(download(id), id: id) }
        _ = try await center.result(of: "a")
        try await objects["b"].log.contains("3000")
        var progresses = center.progresses(of: ["a", "b"]).makeAsyncIterator()
        let before = try #require(await progresses.next())
        #expect(before.completed >= 10_000)
        if isRemoved {
            center.remove("a")
        } else {
            // Another object under the same id, of which nothing comes.
            objects["c"].change { $0.holds = (after: 0, Signal()) }
            center.download(download("c"), id: "a")
        }
        let after = try #require(await progresses.next())
        // Up to where "b" is held, as far as that has been told.
        #expect(after.completed <= 3_000)
        signals["b"]?.open()
        center.cancel("a")
        _ = try await center.result(of: "b")
        await center.close()
    }

    @Test("A screen's status follows a transfer through failure and success") @MainActor
    func status() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let center = TransferCenter(try service())
        center.download(download("a"), id: "a")
        let status = TransferStatus(of: "a", in: center)
        #expect(status.state != nil)
        try await observed { if case .failed? = status.state { true } else { false } }
        objects["a"].change { $0.breaksAfter = nil }
        center.resume("a")
        try await observed { if case .finished? = status.state { true } else { false } }
        center.remove("a")
        try await observed { status.state == nil }

        // Another one has its id, and the status was there first.
        try FileManager.default.removeItem(at: file("a"))
        let early = TransferStatus(of: "b", in: center)
        #expect(early.state == nil)
        for id in ["a", "b"] { center.download(download(id), id: id) }
        for status in [status, early] {
            try await observed { if case .finished? = status.state { true } else { false } }
        }
        // Closed, it stays what it was.
        let lives = center.lives(of: "a")
        await center.close()
        #expect(lives.state != nil)
        let next = await lives.next()
        #expect(next == nil)
        guard case .finished? = status.state else { throw Violation("\(String(describing: status.state))") }
    }

    @Test("A screen's status knows of one that was forgotten just as its center was closed") @MainActor
    func forgottenStatus() async throws {
        let core = try core(FaultyFiles(), width: 1)
        let center = TransferCenter(core)
        center.upload(ServiceRequest(.put, "/a", body: .text("x")), id: "a")
        _ = try await center.result(of: "a")
        let status = TransferStatus(of: "a", in: center)
        #expect(status.state != nil)
        center.remove("a")
        core.close()
        try await observed { status.state == nil }
    }

    /// Waits until what is observed is so.
    @MainActor
    private func observed(_ isIt: @escaping @MainActor () -> Bool) async throws {
        while true {
            let change = Signal()
            // Called just before the change, in the same turn: who waits comes to run after it.
            if withObservationTracking({ isIt() }, onChange: { change.open() }) { return }
            try await change.wait()
        }
    }

    @Test("What has failed tells why, and goes on when it is resumed")
    func failed() async throws {
        objects["a"].change { $0.breaksAfter = 4_000 }
        let center = TransferCenter(try service())
        center.download(download("a"), id: "a")
        await #expect(throws: HTTPError.self) { try await center.result(of: "a") }
        guard case .failed? = center.state(of: "a") else { throw Violation("not failed") }
        objects["a"].change { $0.breaksAfter = nil }
        center.resume("a")
        _ = try await center.result(of: "a")
        #expect(isWhole("a") && objects["a"].sentBytes == 10_000)
    }

    @Test("All are paused at once, and none begins in the place of another")
    func all() async throws {
        let ids = ["a", "b", "c"]
        let signals = hold(ids)
        let center = TransferCenter(try service(), width: 1)
        for id in ids { center.download(download(id), id: id) }
        try await objects["a"].log.contains("3000")
        // The one that waits longest isn't the one that runs.
        center.setPriority(.high, of: "c")
        center.pause("a")
        try await objects["c"].log.contains("3000")
        center.resume("a")
        center.pauseAll()
        #expect(ids.allSatisfy { if case .paused? = center.state(of: $0) { true } else { false } })
        #expect(objects["a"].asked.count == 1 && objects["b"].asked.isEmpty)
        for signal in signals.values { signal.open() }
        center.resumeAll()
        for id in ids { _ = try await center.result(of: id) }
        #expect(ids.allSatisfy(isWhole))
    }

    @Test("An upload is a transfer as well")
    func upload() async throws {
        let transport = BodyTransport()
        let center = TransferCenter(try HTTPService(transport))
        let id = center.upload(ServiceRequest(.put, "/film", body: .bytes(filling(200_000))))
        #expect(try await center.result(of: id).response?.text == "done")
        #expect(transport.bodies == [filling(200_000)] && center.progress(of: [id]).completed == 200_000)
    }

    @Test("One that fails and goes on counts anew in its group, however soon that is")
    func failsAndGoesOn() async throws {
        let signals = hold(["a"])
        objects["a"].change { $0.breaksAfter = 4_000 }
        let core = try core(FaultyFiles(), width: 1)
        let center = TransferCenter(core)
        center.download(download("a"), id: "a")
        try await objects["a"].log.contains("3000")
        let before = core.group(["a"]).members
        center.pause("a")
        center.resume("a")
        #expect(core.group(["a"]).members == before)
        signals["a"]?.open()
        await #expect(throws: HTTPError.self) { try await center.result(of: "a") }
        objects["a"].change { $0.breaksAfter = nil }
        center.resume("a")
        #expect(core.group(["a"]).members != before)
        _ = try await center.result(of: "a")
    }

    @Test("A group isn't looked at for the sake of others, and until the center is closed for that of its own")
    func ofOthers() async throws {
        let core = try core(FaultyFiles(), width: 1)
        let center = TransferCenter(core)
        let (changes, ofNone) = (core.changes(of: ["a", "c"]), core.changes(of: ["b"]))
        center.download(download("a"), id: "a")
        _ = try await center.result(of: "a")
        center.remove("a")
        await core.settle()
        let version = try #require(await changes.next(after: 0)).version
        #expect(version > 3)
        #expect(await ofNone.next(after: 0)?.version == 1)
        center.download(download("b"), id: "b")
        _ = try await center.result(of: "b")
        await core.settle()
        #expect(await changes.next(after: 0)?.version == version)
        #expect(try #require(await ofNone.next(after: 1)).version > 3)
        await center.close()
        #expect(await changes.next(after: version) == nil)
        #expect(await core.changes(of: ["a"]).next(after: 1) == nil)
    }
}

extension TransferCenter {
    /// Asks for a result in this turn. Where tasks begin later it may ask later, and hear the rest of the story only.
    func resultFromHere(of id: String) -> Task<TransferResult, any Error> {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task { try await self.result(of: id) }
        }
        return Task.immediate { try await self.result(of: id) }
    }
}
