/// The error of a benchmark whose work was not done as expected.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Throws unless two figures agree.
    static func unless(_ found: Int, is expected: Int, _ what: String) throws {
        guard found == expected else { throw Fault("\(what): \(found) instead of \(expected)") }
    }
}
