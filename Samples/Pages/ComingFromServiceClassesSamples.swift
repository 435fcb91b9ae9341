import Foundation
import IDMCore
import IDMHTTP

// sample: the hooks as values
nonisolated struct ShopFailure: Error, Decodable, Sendable {
    let code: Int
    let message: String
}

nonisolated func makeShop(_ baseURL: URL) -> HTTPService {
    var configuration = ServiceConfiguration(
        baseURL: baseURL, headers: ["Accept": "application/json", "X-App": "1.4"])
    configuration.idleTimeout = .seconds(15)
    return HTTPService(
        configuration: configuration,
        interceptors: [
            RetryInterceptor(2), SignedRequests(), LoggingInterceptor { print($0) },
        ],
        rules: [.envelope(ShopFailure.self, at: "error") { $0.code == 0 ? nil : $0 }])
}
// end

// sample: a hook before and after each request
struct SignedRequests: HTTPInterceptor {
    func intercept(
        _ request: ServiceRequest, next: InterceptorChain
    ) async throws -> ServiceResponse {
        var request = request
        request.headers.setSecret("X-Signature", "\(request.path.hashValue)")
        let response = try await next(request)
        print(response.status)
        return response
    }
}
// end

// sample: a model instead of a model class
nonisolated struct Product: Decodable, Equatable, Sendable {
    let id: Int
    let title: String
    let price: Decimal
}

struct ProductsAnswer: DataModel {
    let titles: [String]
    let total: Decimal

    init(from products: [Product]) {
        titles = products.map(\.title)
        total = products.reduce(0) { $0 + $1.price }
    }
}
// end

// sample: dictionaries
nonisolated struct Order: Sendable {
    let number: String
    let lines: [String: Int]

    init(_ json: ServiceJSON) throws {
        number = try json["order"]["number"].require(\.string)
        lines = (json["order"]["lines"].object ?? [:]).compactMapValues(\.int)
    }
}

func order(_ id: Int, in shop: HTTPService) async throws -> Order {
    let request = ServiceRequest(.get, "/orders/{id}", pathParameters: ["id": id])
    return try Order(await shop.request(request, as: ServiceJSON.self))
}
// end

@MainActor
private func calls(_ shop: HTTPService, _ parameters: [String: Any], _ photo: Data) async throws {
    // sample: a body of a dictionary
    let body: RequestBody = .json(["items": [["id": 7, "count": 2]], "note": nil])
    let json = try ServiceJSON(jsonObject: parameters)
    let old: RequestBody = .json(json)
    let dictionary = json.jsonObject as? [String: Any]
    // end
    _ = (body, old)
    print(dictionary?.count ?? 0)

    // sample: multipart data in memory
    let upload = ServiceRequest(
        .post, "/photos",
        body: .multipart([
            .text("title", "Apple"),
            .data("photo", photo, fileName: "apple.png", contentType: "image/png"),
        ]))
    let response = try await shop.request(upload)
    // end
    _ = response

    // sample: a call as before
    let products = Integrator(
        shop.provider { (page: Int) in ProductsResource(page: page) },
        model: ProductsAnswer.self, executing: .latest)
    products.prepareCall(1)
        .onSuccess { answer in print(answer.titles) }
        .onError { error in
            if let failure = error.failure(as: ShopFailure.self) { print(failure.message) }
        }
        .call()
    // end
}

struct ProductsResource: DecodableResource {
    let page: Int
    typealias Value = [Product]
    var request: ServiceRequest { ServiceRequest(.get, "/products", query: ["page": page]) }
}

// sample: a completion queue
nonisolated func products(
    _ page: Int, of shop: HTTPService, queue: DispatchQueue,
    completion: @escaping @Sendable (Result<[Product], any Error>) -> Void
) {
    Integrator(shop.provider(for: ProductsResource.self))
        .fetch(ProductsResource(page: page)) { result in
            queue.async { completion(result) }
        }
}
// end
