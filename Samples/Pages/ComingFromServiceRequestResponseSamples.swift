import Foundation
import IDMCore
import IDMHTTP

// sample: the service of the app
nonisolated func makeCatalogue() throws -> HTTPService {
    let configuration = try ServiceConfiguration(infoOf: .main)
    return HTTPService(
        configuration: configuration, rules: [.failureBody(CatalogueFailure.self)])
}

nonisolated struct CatalogueFailure: Error, Decodable, Sendable {
    let code: String
    let message: String
}
// end

// sample: a request
nonisolated struct Category: Decodable, Identifiable, Sendable {
    let id: Int
    let name: String
}

nonisolated struct NewCategory: Sendable {
    let name: String
    let image: Data
}

struct CreateCategory: DecodableResource {
    let new: NewCategory

    typealias Value = Category
    var request: ServiceRequest {
        ServiceRequest(
            .post, "/categories",
            body: .multipart([
                .text("category_name", new.name),
                .data("file", new.image, fileName: "file.png", contentType: "image/png"),
            ]))
    }
}

struct GetCategory: DecodableResource {
    let id: Category.ID

    typealias Value = Category
    var request: ServiceRequest {
        ServiceRequest(
            .get, "/categories/:id", pathParameters: ["id": id],
            idleTimeout: .seconds(15))
    }
}
// end

@MainActor
private func use(_ catalogue: HTTPService, _ image: Data) async throws {
    // sample: a call with two blocks
    let create = Integrator(catalogue.provider { CreateCategory(new: $0) }, executing: .only)
    create.prepareCall(NewCategory(name: "Apples", image: image))
        .onSuccess { category in print(category.name) }
        .onError { error in
            switch (error as? HTTPError)?.status {
            case nil: print("There is no connection.")
            case 401: print("Sign in again.")
            default: print(error.failure(as: CatalogueFailure.self)?.message ?? "\(error)")
            }
        }
        .call()
    // end

    // sample: a response in hand
    let response = try await catalogue.request(ServiceRequest(.get, "/categories"))
    print(response.status, response.headers["ETag"] ?? "", response.body.count)
    let categories = try response.decoded(as: [Category].self, at: "data")
    // end
    _ = categories
}

private func environments(_ file: URL) throws {
    // sample: one file, several environments
    let staging = try ServiceConfiguration(
        contentsOf: file, environment: "staging", variable: "API_BASE_URL")
    // end
    _ = staging
}
