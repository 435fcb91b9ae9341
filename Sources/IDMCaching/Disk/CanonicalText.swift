internal import Foundation

/// The one form of all texts that are equal as strings, however they were typed.
///
/// Strings are compared by the standard library's tables of Unicode. Those of Foundation, which composes texts, may be
/// older: on Linux, Foundation of Swift 6.3 knows Unicode 15. It leaves marks in their order that it doesn't know, and
/// doesn't take letters apart that came later. Both are done here, as far as the standard library knows them.
enum CanonicalText {
    static func bytes(of text: String) -> [UInt8] {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return Array(text.utf8) }
        let composed = text.precomposedStringWithCanonicalMapping
        guard composed.unicodeScalars.contains(where: { needsOrder($0) }) else { return Array(composed.utf8) }
        let parts = text.decomposedStringWithCanonicalMapping.unicodeScalars.flatMap { laterParts[$0] ?? [$0] }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: ordered(parts))
        return Array(String(scalars).precomposedStringWithCanonicalMapping.utf8)
    }

    private static func needsOrder(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && (scalar.properties.canonicalCombiningClass != .notReordered || isLater(scalar))
    }

    private static func isLater(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x1_0000 && laterParts[scalar] != nil
    }

    /// Puts the marks behind each letter in the order of their classes.
    private static func ordered(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var (ordered, marks): ([Unicode.Scalar], [Unicode.Scalar]) = ([], [])
        func rank(_ mark: Unicode.Scalar) -> UInt8 { mark.properties.canonicalCombiningClass.rawValue }
        for scalar in scalars {
            if rank(scalar) == 0 {
                ordered += marks.sorted { rank($0) < rank($1) } + [scalar]
                marks = []
            } else {
                marks.append(scalar)
            }
        }
        return ordered + marks.sorted { rank($0) < rank($1) }
    }

    /// The decompositions of the letters of Unicode 16 that are equal to a sequence of several scalars, as far as the
    /// standard library of this system knows them.
    private static let laterParts: [Unicode.Scalar: [Unicode.Scalar]] = {
        let all: [[UInt32]] = [
            [0x105c9, 0x105d2, 0x307], [0x105e4, 0x105da, 0x307], [0x11383, 0x11382, 0x113c9],
            [0x11385, 0x11384, 0x113bb], [0x1138e, 0x1138b, 0x113c2], [0x11391, 0x11390, 0x113c9],
            [0x113c5, 0x113c2, 0x113c2], [0x113c7, 0x113c2, 0x113b8], [0x113c8, 0x113c2, 0x113c9],
            [0x16121, 0x1611e, 0x1611e], [0x16122, 0x1611e, 0x16129], [0x16123, 0x1611e, 0x1611f],
            [0x16124, 0x16129, 0x1611f], [0x16125, 0x1611e, 0x16120], [0x16126, 0x1611e, 0x1611e, 0x1611f],
            [0x16127, 0x1611e, 0x16129, 0x1611f], [0x16128, 0x1611e, 0x1611e, 0x16120], [0x16d68, 0x16d67, 0x16d67],
            [0x16d69, 0x16d63, 0x16d67], [0x16d6a, 0x16d63, 0x16d67, 0x16d67],
        ]
        var parts: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for letter in all {
            let scalars = letter.compactMap(Unicode.Scalar.init)
            var apart = String.UnicodeScalarView()
            apart.append(contentsOf: scalars.dropFirst())
            if let whole = scalars.first, String(whole) == String(apart) { parts[whole] = Array(scalars.dropFirst()) }
        }
        return parts
    }()
}
