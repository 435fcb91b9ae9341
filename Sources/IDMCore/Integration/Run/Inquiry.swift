/// A provider together with an input: what a run asks. The types of both are left behind here, so that all runs of all
/// integrators are the same code, and none of it is generic.
protocol Inquiry: Sendable {
    /// Whether more than one value may come.
    var isStream: Bool { get }

    func request(reporter: IntegrationProgress.Reporter?) async throws -> any Sendable
    func values() -> ProviderValues<any Sendable>

    /// Gives up the share in a request that others use as well.
    func leave()
}

/// Makes the inquiries of one run, one for each attempt.
protocol InquirySource: Sendable {
    func inquire() -> any Inquiry
}

/// The provider of an integrator. Runs hold this, so that they don't hold the integrator.
final class Supply<Input: Sendable, Output: Sendable>: Sendable {
    let provider: any DataProvider<Input, Output>
    let isStream: Bool
    /// The requests that calls share, if they do.
    let flights: Flights<LaneKey?, Input, Output>?

    init(_ provider: any DataProvider<Input, Output>, sharing: Bool) {
        self.provider = provider
        isStream = provider.stream != nil
        flights = sharing ? Flights(provider: provider) : nil
    }
}

struct SupplyInquiry<Input: Sendable, Output: Sendable>: InquirySource, Inquiry {
    let supply: Supply<Input, Output>
    let input: Input

    var isStream: Bool { supply.isStream }

    func inquire() -> any Inquiry { self }

    func request(reporter: IntegrationProgress.Reporter?) async throws -> any Sendable {
        guard let reporter else { return try await supply.provider.request(input) }
        return try await supply.provider._request(input, reporter: reporter)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: supply.provider, for: input).erased()
    }

    func leave() {}
}

struct SharedInquirySource<Input: Sendable, Output: Sendable>: InquirySource {
    let supply: Supply<Input, Output>
    let flights: Flights<LaneKey?, Input, Output>
    let lane: LaneKey?
    let input: Input

    func inquire() -> any Inquiry {
        SharedInquiry(seat: flights.join(lane, input), input: input, isStream: supply.isStream)
    }
}

struct SharedInquiry<Input: Sendable, Output: Sendable>: Inquiry {
    let seat: Seat<Input, Output>
    let input: Input
    let isStream: Bool

    func request(reporter: IntegrationProgress.Reporter?) async throws -> any Sendable {
        try await seat._request(input, reporter: reporter)
    }

    func values() -> ProviderValues<any Sendable> {
        ProviderValues(of: seat, for: input).erased()
    }

    func leave() {
        seat.leave()
    }
}
