import Foundation
import IDMHTTP
import IDMHTTPTesting

/// The cost of a center with many transfers. Their bodies are small, and reach no network.
enum Centers {
    static let rows: [Benchmark] = [
        .growth(
            "center with 10,000 transfers, a transfer", center, from: 1_000, to: 10_000, against: "a transfer of 1,000",
            limit: .times(1.2))
    ]

    private static let center = Side("TransferCenter", proof: { $0 }) { operations in
        guard let url = URL(string: "http://films.test") else { throw Fault("no address") }
        let configuration = ServiceConfiguration(baseURL: url)
        let center = TransferCenter(
            HTTPService(configuration: configuration, transport: StubTransport { _ in .text("1") }))
        let ids = (0..<operations).map { center.upload(ServiceRequest(.put, "/film"), id: "\($0)") }
        var sum = 0
        for id in ids { sum += Int(try await center.result(of: id).response?.text ?? "") ?? 0 }
        await center.close()
        return sum
    }
}
