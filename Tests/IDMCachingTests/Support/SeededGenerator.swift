import Foundation

/// Numbers that are the same in every run of the tests.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// How much the long tests do. `IDM_SOAK=1` asks for all of it.
enum Volume {
    static func of(_ full: Int, normally: Int) -> Int {
        ProcessInfo.processInfo.environment["IDM_SOAK"] == "1" ? full : normally
    }
}
