import Foundation

@testable import IDMHTTP

/// Key paths into JSON: a path that is made of names leads to the value under them, whatever the names are.
enum KeyPathSubject {
    static func check(_ input: Input) {
        var input = input
        let path = input.text()
        let names = BodyKeyPath(path).names
        // Written and read again, the names are the same.
        if !names.isEmpty {
            let written = names.map { name in
                name.unicodeScalars.reduce(into: "") { $0 += $1 == "." || $1 == "\\" ? "\\\($1)" : "\($1)" }
            }
            expect(
                BodyKeyPath(written.joined(separator: ".")).names == names || names == [""],
                "The names are other ones: \(names)")
        }
        var tree = #"{"leaf":1}"#
        for name in names.reversed() {
            guard let key = try? JSONEncoder().encode(name) else { return }
            tree = "{\(String(decoding: key, as: UTF8.self)):\(tree)}"
        }
        let found = try? JSONDecoder().decode(ServiceJSON.self, from: Data(tree.utf8), at: path)
        if names.count < 100 {
            expect(found?["leaf"] == .integer(1), "It isn't found at \(names)")
        }
        // And into whatever else there is: an answer or an error.
        let data = Data(input.rest)
        _ = try? JSONDecoder().decode(ServiceJSON.self, from: data, at: path)
        guard let value = try? JSONDecoder().decode(ServiceJSON.self, from: data) else { return }
        guard let again = try? JSONEncoder().encode(value),
            let second = try? JSONDecoder().decode(ServiceJSON.self, from: again)
        else { fault("It can't be written and read again: \(value)") }
        expect(second == value, "It is another value when it is read again: \(value), \(second)")
    }
}
