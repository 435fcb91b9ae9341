extension String {
    /// The text with a full stop, unless it ends a sentence already.
    var endingSentence: String { last.map { ".!?…".contains($0) } == true ? self : self + "." }

    /// The text on one line, cut where it gets long, with what can't be seen as escapes.
    func escapedForDescription(limit: Int = 120) -> String {
        // Nearly all names and addresses.
        if utf8.count <= limit, utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        let shown = unicodeScalars.prefix(limit).map { $0.isVisible ? String($0) : $0.escaped(asASCII: true) }.joined()
        return unicodeScalars.count > limit ? shown + "…" : shown
    }
}

extension Unicode.Scalar {
    /// True if the scalar is visible, and doesn't change how others are shown.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }
}
