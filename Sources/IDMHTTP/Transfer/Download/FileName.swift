/// A name that a file can safely have, whatever it was made of: one that stays in its folder, shows what it is, and is
/// a name everywhere.
struct FileName: Sendable, Hashable {
    /// The most bytes that file systems take for a name.
    static let longest = 255

    /// What stands before the extension.
    private let stem: String
    /// The extension with its dot, or nothing.
    private let ending: String

    /// Makes a name of what a server, or anybody else, suggests. Nil if nothing of it is of use.
    init?(suggested text: String) {
        // What was before a separator is a path, and none of anybody's business. Both kinds: it may travel. All of this
        // as scalars: a slash is one, and a dot is, whatever is joined to it.
        let last = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last
        let shown = (last ?? "".unicodeScalars[...]).compactMap(Self.plain)
        guard let whole = Self.trimmed(shown) else { return nil }
        // Cut before it is looked at, for a cut can lay bare a dot, or a name of a part; and once more if what is added
        // has no room.
        for longest in [Self.longest, Self.longest - 2] {
            let short = FileName(given: whole).text(before: "", longest: longest)
            guard let name = Self.trimmed(Array(short.unicodeScalars)) else { return nil }
            let safe = (Self.isDevice(name) ? "_" + name : name) + (DownloadPlace.isReserved(name) ? "_" : "")
            guard safe.utf8.count > Self.longest else {
                self.init(given: safe)
                return
            }
        }
        return nil
    }

    /// A name that was given by whoever may give it.
    init(given name: String) {
        if let dot = name.unicodeScalars.lastIndex(of: "."), dot > name.startIndex, name[dot...].utf8.count <= 20 {
            stem = String(name[..<dot])
            ending = String(name[dot...])
        } else {
            stem = name
            ending = ""
        }
    }

    /// The name, cut where it would be too long for a file system.
    var text: String { text(before: "") }

    /// The name of the so-manieth file of this name.
    func numbered(_ number: Int) -> String { text(before: " (\(number))") }

    /// The name with something between it and its extension.
    private func text(before suffix: String, longest: Int = FileName.longest) -> String {
        stem.prefix(bytes: longest - suffix.utf8.count - ending.utf8.count) + suffix + ending
    }

    /// Removes a leading dot, which hides a file, invisible scalars at both ends, and what some systems drop at the end.
    /// Nil if nothing visible is left.
    private static func trimmed(_ scalars: [Unicode.Scalar]) -> String? {
        guard let first = scalars.firstIndex(where: isVisible),
            // A variation selector belongs to the scalar before it: an emoji keeps its color.
            let end = scalars.lastIndex(where: { isVisible($0) || $0.properties.isVariationSelector })
        else { return nil }
        return String(String.UnicodeScalarView(scalars[first...end]))
    }

    /// A scalar as it may stand in a name. Nil if it may not.
    private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if joins(scalar) { return scalar }
        return switch scalar.properties.generalCategory {
        // Among the formats are those that turn the direction of what follows, so that gpj.exe shows as exe.jpg.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: nil
        default: ":*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar
        }
    }

    /// Whether a scalar can be seen at the start or the end of a name. Fillers and joiners (`Default_Ignorable_Code_Point`)
    /// and the empty braille pattern can't.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "." && scalar != "\u{2800}" && !scalar.properties.isWhitespace
            && !scalar.properties.isDefaultIgnorableCodePoint
    }

    /// Whether a scalar only says how its neighbours join: scripts need it, and families of emoji.
    private static func joins(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{200C}" || scalar == "\u{200D}"
    }

    /// Whether some systems take a name for a device, whatever its extension is.
    private static func isDevice(_ name: String) -> Bool {
        let base = String(name.unicodeScalars.prefix { $0 != "." }).uppercased()
        if ["CON", "PRN", "AUX", "NUL"].contains(base) { return true }
        return base.count == 4 && (base.hasPrefix("COM") || base.hasPrefix("LPT")) && base.last?.isNumber == true
    }
}

extension String {
    /// As much of the start as fits into so many bytes, with no character cut: save the first, if nothing of it fits
    /// otherwise. Any number of marks may be joined to a letter.
    func prefix(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        let characters = Self.fitting(self, bytes) { $0.utf8.count }
        return characters.isEmpty ? String(Self.fitting(unicodeScalars, bytes) { $0.utf8.count }) : String(characters)
    }

    /// The elements at the start that have no more bytes than so many together.
    private static func fitting<Elements: Collection>(
        _ elements: Elements, _ bytes: Int, _ length: (Elements.Element) -> Int
    ) -> Elements.SubSequence {
        var count = 0
        return elements.prefix { element in
            count += length(element)
            return count <= bytes
        }
    }
}
