extension FixedWidthInteger {
    /// Returns the sum, or the nearest representable number. For numbers from outside, which may have any size.
    package func addingSaturating(_ other: Self) -> Self {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest representable number.
    package func subtractingSaturating(_ other: Self) -> Self {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? (other < 0 ? .max : .min) : difference
    }
}
