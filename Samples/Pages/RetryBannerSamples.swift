import Foundation
import IDMCore
import IDMHTTP
import Observation
import SwiftUI

// sample: the banner
@MainActor
@Observable
final class ErrorBanner: ErrorHandling {
    private(set) var message: String?
    private(set) var retry: RetryAction?

    func handle(error: any Error) {
        handle(error: error, retry: nil)
    }

    func handle(error: any Error, retry: RetryAction?) {
        message = error.localizedDescription
        self.retry = retry
    }

    func retryAndDismiss() {
        let action = retry
        (message, retry) = (nil, nil)
        action?()
    }
}
// end

// sample: the view of the banner
struct BannerView: View {
    let banner: ErrorBanner

    var body: some View {
        if let message = banner.message {
            HStack {
                Text(message)
                Button("Retry") { banner.retryAndDismiss() }
            }
        }
    }
}
// end

struct RefusedError: Error {
    let reason: String
}

@MainActor
private func attach(
    _ banner: ErrorBanner, _ notes: Integrator<String, [Note]>, _ state: IntegrationState<String, [Note]>,
    showLogin: @escaping @MainActor () -> Void
) -> ErrorRouter {
    // sample: one integrator, one state, one call
    notes.errorHandler(banner)
    state.integrator.errorHandler(banner)
    notes.prepareCall("apples").errorHandler(banner).call()
    // end

    // sample: errors that go elsewhere
    let errors = ErrorRouter()
    errors.on(AuthenticationError.self, priority: 10) { _ in showLogin() }
    errors.on(RefusedError.self) { refused in print(refused.reason) }
    errors.on(banner)
    notes.errorHandler(errors)
    // end
    return errors
}
