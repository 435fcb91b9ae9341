import Foundation
import IDMFiles
import Testing

struct SHA256Tests {
    @Test(
        "SHA-256 gives the digests of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func examples(text: String, digest: String) {
        #expect(SHA256.hex(of: text.utf8) == digest)
    }

    @Test("SHA-256 of a million letters a is the standard's digest")
    func million() {
        var hash = SHA256()
        let thousand = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)
        for _ in 0..<1_000 { thousand.withUnsafeBytes { hash.update($0) } }
        #expect(hash.hex == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("A digest saved and restored at any byte continues unchanged")
    func cuts() throws {
        let bytes = (0..<150).map { UInt8($0) }
        let whole = SHA256.hex(of: bytes)
        for first in 0...bytes.count {
            var hash = SHA256()
            bytes[..<first].withUnsafeBytes { hash.update($0) }
            var restored = try JSONDecoder().decode(SHA256.self, from: JSONEncoder().encode(hash))
            #expect(restored == hash)
            bytes[first...].withUnsafeBytes { restored.update($0) }
            #expect(restored.hex == whole && restored.count == 150, "cut at \(first)")
        }
    }

    @Test("Reading a partial digest does not change the final one")
    func partialRead() {
        var hash = SHA256()
        [UInt8]("ab".utf8).withUnsafeBytes { hash.update($0) }
        _ = hash.hex
        [UInt8]("c".utf8).withUnsafeBytes { hash.update($0) }
        #expect(hash.hex == SHA256.hex(of: "abc".utf8))
    }

    @Test("A saved digest whose parts contradict each other is rejected")
    func damaged() {
        let text = #"{"count":70,"words":[1,2,3,4,5,6,7,8],"tail":[1,2,3]}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(SHA256.self, from: Data(text.utf8)) }
    }
}
