public import Foundation
public import IDMHTTP

extension TransportResponse {
    /// A status without a body.
    public static func status(_ status: Int, headers: ServiceHeaders = [:]) -> TransportResponse {
        TransportResponse(status: status, headers: headers)
    }

    /// A text.
    public static func text(_ text: String, status: Int = 200, headers: ServiceHeaders = [:]) -> TransportResponse {
        bytes(Data(text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A text with the type of JSON.
    public static func json(_ text: String, status: Int = 200, headers: ServiceHeaders = [:]) -> TransportResponse {
        bytes(Data(text.utf8), type: "application/json", status: status, headers: headers)
    }

    /// Bytes of some type. A Content-Type among the headers counts for more.
    public static func bytes(
        _ data: Data, type: String, status: Int = 200, headers: ServiceHeaders = [:]
    ) -> TransportResponse {
        let typed: ServiceHeaders = ["Content-Type": type]
        return TransportResponse(status: status, headers: typed.merging(headers), body: HTTPBytes(data))
    }
}
