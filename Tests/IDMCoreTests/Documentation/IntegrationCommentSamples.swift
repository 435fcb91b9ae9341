import IDMCore

#if canImport(Darwin)
import SwiftUI
#else
import TestSupport

extension Surroundings {
    typealias List = SwiftUIStandIn.List
    typealias ProgressView = SwiftUIStandIn.ProgressView
    typealias State = SwiftUIStandIn.State
    typealias Text = SwiftUIStandIn.Text
    typealias View = SwiftUIStandIn.View
}
#endif

/// The samples in the comments of models, integrators, errors and sinks.
extension Surroundings {
    // sample: a model
    struct Users: DataModel {
        let names: [String]
        init(from source: [String]) throws {
            names = source.sorted()
        }
    }
    // end

    @MainActor
    private static func integrator() async throws {
        // sample: an integrator
        let users = Integrator(UserDataProvider(), model: Users.self, executing: .latest)

        users.prepareCall("apple")
            .onSuccess { users in list.show(users) }
            .onError { error in banner.show(error) }
            .call()

        let found = try await users.request("apple")
        // end
        _ = found

        // sample: one completion handler
        users.fetch("apple") { result in
            switch result {
            case .success(let users): list.show(users)
            case .failure(let error): banner.show(error)
            }
        }
        // end

        // sample: events
        for await event in users.prepareCall("apple").events() {
            if case .succeeded(let users) = event { list.show(users) }
        }
        // end

        // sample: values
        for try await users in users.prepareCall("apple").values() { list.show(users) }
        // end

        // sample: handlers that are removed again
        let registration = users.addHandlers {
            $0.onBeginning { spinner.start() }.onCompletion { spinner.stop() }
        }
        registration.remove()
        // end
    }

    @MainActor
    private static func errors(of users: Integrator<String, Users>) {
        // sample: an error router
        let errors = ErrorRouter()
        errors.on(SessionError.self, priority: 10) { error in login.show(because: error) }
        errors.on { error, retry in banner.show(error, retry: retry) }

        users.errorHandler(errors)
        // end
    }

    // sample: an error that wraps another one
    struct SyncError: WrappingError {
        let step: String
        let underlyingError: (any Error)?
    }
    // end

    private static func unwrap(_ error: any Error) {
        // sample: a wrapped error
        if let failure = error.failure(as: SearchFailure.self) { field.mark(failure.reason) }
        // end
    }

    private static func trace(of users: Integrator<String, Users>) {
        // sample: a trace in short
        let trace = TraceRecorder()
        trace.watch(users, as: "users")
        let profiles = ProfileDataProvider().traced("profiles", by: trace)
        // … make calls …
        print(trace.chromeTrace)  // for Perfetto, and for chrome://tracing
        print(trace.page)  // a page with a timeline, which needs no network
        // end
        _ = profiles
    }

    // sample: an observed state
    struct Search: View {
        let query: String
        @State private var users = IntegrationState(
            Integrator(UserDataProvider(), model: Users.self, executing: .latest))

        var body: some View {
            List(users.value?.names ?? [], id: \.self) { Text($0) }
                .overlay { if users.isLoading { ProgressView() } }
                .task(id: query) { await users.run(query) }
        }
    }
    // end

    struct UserDataProvider: SampleDataProvider { typealias Input = String }

    private struct SessionError: Error {}

    private struct SearchFailure: Error {
        let reason: String
    }

    private struct Field {
        func mark(_ reason: String) {}
    }

    private static let field = Field()

    @MainActor
    private struct Login {
        func show(because error: SessionError) {}
    }

    @MainActor private static let login = Login()
}

extension Surroundings.Surface {
    fileprivate func show(_ users: Surroundings.Users) {}
}
