extension FixedWidthInteger {
    /// The sum, or the number nearest to it that there is: what comes from outside may be of any size.
    package func addingSaturating(_ other: Self) -> Self {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the number nearest to it that there is.
    package func subtractingSaturating(_ other: Self) -> Self {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? (other < 0 ? .max : .min) : difference
    }
}
