import IDMCaching

extension DiskCache<String, String> {
    /// Writes an entry, and says what went wrong.
    func error(ofWriting value: String, for key: String = "key") async -> DiskCacheError? {
        do {
            try await set(value, for: key)
            return nil
        } catch {
            return error as? DiskCacheError ?? .refused(call: "untyped: \(error)", code: 0)
        }
    }
}
