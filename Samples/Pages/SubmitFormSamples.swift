import Foundation
import IDMCore
import IDMHTTP
import SwiftUI

// sample: what is submitted
nonisolated struct SignUp: Codable, Equatable, Sendable {
    var name = ""
    var email = ""
}

nonisolated struct FieldErrors: Error, Decodable, Sendable {
    let fields: [String: String]
}

struct SubmitSignUp: DataProvider {
    private let service: HTTPService

    init(_ service: HTTPService) {
        var service = service
        service.rules.append(.failureBody(FieldErrors.self))
        self.service = service
    }

    func request(_ form: (id: UUID, draft: SignUp)) async throws -> ServiceResponse {
        try await service.request(
            ServiceRequest(
                .post, "/accounts", headers: [.idempotencyKey: form.id.uuidString],
                body: .json(form.draft)))
    }
}
// end

// sample: the form
struct SignUpForm: View {
    @State private var id = UUID()
    @State private var draft = SignUp()
    @State private var submit = IntegrationState(
        Integrator(SubmitSignUp(api), executing: .only))

    var body: some View {
        Form {
            TextField("Name", text: $draft.name)
            TextField("Email", text: $draft.email)
            if let problem = fields["email"] { Text(problem) }
            Button(submit.isLoading ? "Sending" : "Sign up") { submit.load((id, draft)) }
                .disabled(submit.isLoading)
            if let error = submit.error, fields.isEmpty {
                Text(error.localizedDescription)
            }
        }
        .onChange(of: draft) { id = UUID() }
    }

    private var fields: [String: String] {
        submit.error?.failure(as: FieldErrors.self)?.fields ?? [:]
    }
}
// end
