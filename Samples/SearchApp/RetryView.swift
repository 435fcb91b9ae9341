import IDMCore
import SwiftUI

/// Lies over the content of a screen: a spinner for the first load, or an error with a retry.
struct RetryView<Input: Sendable, Output: Sendable>: View {
    let state: IntegrationState<Input, Output>

    var body: some View {
        switch state.phase {
        case .loading(previous: nil):
            ProgressView()
        case .failed(let error, previous: nil):
            ContentUnavailableView {
                Label("Loading failed", systemImage: "exclamationmark.triangle")
            } description: {
                Text(error.localizedDescription)
            } actions: {
                Button("Retry") { state.reload() }
            }
        case .failed(let error, previous: _?):
            // The previous value stays visible.
            VStack {
                Spacer()
                Text(error.localizedDescription)
                Button("Retry") { state.reload() }
            }
        case .idle, .loading, .loaded:
            EmptyView()
        }
    }
}

struct RetryView_Previews: PreviewProvider {
    static var previews: some View {
        RetryView(state: state(.loading(previous: nil)))
        RetryView(state: state(.failed(IntegrationError.cancelled(.ignored), previous: nil)))
        RetryView(state: state(.failed(IntegrationError.cancelled(.ignored), previous: [])))
    }

    private static func state(_ phase: IntegrationState<String, [Account]>.Phase) -> IntegrationState<String, [Account]>
    {
        IntegrationState(Integrator(ValueDataProvider([])), phase: phase)
    }
}
