import IDMCore

/// The model: makes itself from what the directory keeps. It knows nothing of where that came from.
struct Users: DataModel {
    let lines: [String]

    init(from source: [UserDirectory.Account]) throws {
        guard !source.isEmpty else { throw NobodyFound() }
        lines =
            source
            .sorted { $0.repositories > $1.repositories }
            .map { "\($0.name) (\($0.repositories))" }
    }
}

/// What the model says of an empty answer.
struct NobodyFound: Error, CustomStringConvertible {
    let description = "nobody of that name"
}
