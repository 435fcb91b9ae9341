public import Foundation

/// Decides whether a response is a success or a failure.
///
/// Rules are asked one after the other. The first that has an opinion decides; if none has, a status from 200 to 299 is
/// a success, and any other one a failure.
///
/// A response whose body is still to come (``HTTPService/open(_:)``) is judged without it. If that makes it a failure,
/// its body is read, as far as the limit goes, and the rules are asked again: so a failure has its body, and a rule
/// that needs one doesn't fail for the lack of it.
///
/// ```swift
/// let rules: [ResponseRule] = [
///     .envelope(Envelope.self) { $0.code == 0 ? nil : APIFailure(code: $0.code) },
///     .failureBody(APIFailure.self),
/// ]
/// ```
public struct ResponseRule: Sendable {
    /// What a rule says of a response.
    public enum Verdict: Sendable {
        /// It is a success, whatever the rules behind this one would say.
        case success
        /// It is a failure.
        case failure(HTTPError.Reason)
        /// The next rule is asked.
        case undecided

        /// It is a failure of the API's own.
        public static func rejected(_ failure: any Error) -> Verdict { .failure(.rejected(failure)) }
    }

    private let judge: @Sendable (ServiceResponse) -> Verdict

    /// Makes a rule. It is asked once for each response, or twice if the body comes later, away from the caller's
    /// actor.
    public init(_ judge: @escaping @Sendable (ServiceResponse) -> Verdict) {
        self.judge = judge
    }

    /// What the rule says of a response.
    public func verdict(on response: ServiceResponse) -> Verdict {
        judge(response)
    }

    /// A status within these is a success, whatever is in the body.
    public static func accept(_ statuses: some Sequence<Int>) -> ResponseRule {
        let statuses = Set(statuses)
        return ResponseRule { statuses.contains($0.status) ? .success : .undecided }
    }

    /// A status outside of these is a failure.
    public static func status(in statuses: some RangeExpression<Int> & Sendable) -> ResponseRule {
        ResponseRule { statuses.contains($0.status) ? .undecided : .failure(.status($0.status)) }
    }

    /// What an API says when it fails, as a type of its own: the body of a response whose status isn't from 200 to 299.
    ///
    /// A body that can't be read so leaves the failure to the next rule, and in the end to the status.
    ///
    /// - Parameters:
    ///   - type: The failure.
    ///   - keyPath: Where it is in the body: `error.details`. Nil for the whole of it.
    ///   - decoder: What reads it.
    public static func failureBody<Failure: Error & Decodable & Sendable>(
        _ type: Failure.Type, at keyPath: String? = nil, decoder: JSONDecoder = JSONDecoder()
    ) -> ResponseRule {
        ResponseRule { response in
            guard !(200..<300).contains(response.status),
                let failure = try? decoder.decode(type, from: response.body, at: keyPath)
            else { return .undecided }
            return .rejected(failure)
        }
    }

    /// An API's own word on whether a request succeeded, in whatever response has an envelope for it.
    ///
    /// A body that isn't an envelope leaves it to the next rule.
    ///
    /// - Parameters:
    ///   - type: The part of the body that says it.
    ///   - keyPath: Where that is in the body. Nil for the whole of it.
    ///   - decoder: What reads it.
    ///   - failure: The failure that an envelope holds, or nil if it holds none.
    public static func envelope<Envelope: Decodable & Sendable>(
        _ type: Envelope.Type, at keyPath: String? = nil, decoder: JSONDecoder = JSONDecoder(),
        failure: @escaping @Sendable (Envelope) -> (any Error)?
    ) -> ResponseRule {
        ResponseRule { response in
            guard let envelope = try? decoder.decode(type, from: response.body, at: keyPath),
                let failure = failure(envelope)
            else { return .undecided }
            return .rejected(failure)
        }
    }
}

extension [ResponseRule] {
    /// Why a response is a failure. Nil if it is a success.
    func failure(of response: ServiceResponse) -> HTTPError.Reason? {
        for rule in self {
            switch rule.verdict(on: response) {
            case .success: return nil
            case .failure(let reason): return reason
            case .undecided: continue
            }
        }
        return (200..<300).contains(response.status) ? nil : .status(response.status)
    }
}
