import TestSupport
import Testing

@testable import IDMCaching

@Suite("Digests and checksums", .timeLimit(.ample))
struct DigestTests {
    @Test(
        "SHA-256 is what the standard says",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func sha256(text: String, digest: String) {
        #expect(Digest(of: text.utf8).hex == digest)
    }

    @Test(
        "XXH64 is what its specification says",
        arguments: [
            ("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b), ("abc", 0x44bc_2cf5_ad77_0999),
            ("Nobody inspects the spammish repetition", 0xfbce_a83c_8a37_8bf1),
        ] as [(String, UInt64)])
    func xxh64(text: String, checksum: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { Checksum.of($0) } == checksum)
    }
}
