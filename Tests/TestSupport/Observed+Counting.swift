import IDMTesting

extension Observed<Int> {
    /// Counts one more, and returns the count.
    @discardableResult
    package func countOne() -> Int {
        change { count in
            count += 1
            return count
        }
    }
}
