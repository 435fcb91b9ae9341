/// What has been found of many requests so far.
struct CrowdFindings {
    /// Whether a request with each input has been looked at alone.
    var hasAskedAlone = false
    /// What one came to alone. So it is no fault of many, whatever they come to.
    var ofEach: DataProviderContract.Breach?
    /// That one didn't end which was cancelled alone.
    var lateness: DataProviderContract.Breach?
    /// What no request is to come to, and some did beside a cancel, not each time.
    var fault: String?
    /// How long streams were that nobody cancelled, by their inputs.
    private var lengths: [Int: Set<Int>] = [:]

    /// The inputs with which streams differ in length anyhow.
    var varying: Set<Int> { Set(lengths.filter { $0.value.count > 1 }.keys) }

    /// Takes note of how long streams were that nobody cancelled.
    mutating func note(_ others: [Set<Int>]) {
        for (input, others) in others.enumerated() { lengths[input, default: []].formUnion(others) }
    }
}
