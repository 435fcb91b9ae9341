import Foundation
import IDMCore
import IDMHTTP
import SwiftUI

// sample: notes and their service
nonisolated struct Note: Codable, Identifiable, Equatable, Sendable {
    let id: Int
    var text: String
}

nonisolated let api = HTTPService(
    configuration: .init(baseURL: URL(string: "https://api.example.com")!))

struct SearchNotes: DataProvider {
    func request(_ text: String) async throws -> [Note] {
        try await api.request(
            ServiceRequest(.get, "/notes", query: ["q": text]), as: [Note].self)
    }
}

struct LoadNote: DataProvider {
    func request(_ id: Note.ID) async throws -> Note {
        try await api.request(
            ServiceRequest(.get, "/notes/{id}", pathParameters: ["id": id]),
            as: Note.self)
    }
}
// end

// sample: a searchable list
struct NotesView: View {
    @State private var text = ""
    @State private var notes = IntegrationState(
        Integrator(SearchNotes(), executing: .latest(debounce: .milliseconds(300))))

    var body: some View {
        NavigationStack {
            NoteList(notes: notes)
                .searchable(text: $text)
                .onChange(of: text, initial: true) { notes.load(text) }
                .refreshable { await notes.refresh() }
        }
    }
}

struct NoteList: View {
    let notes: IntegrationState<String, [Note]>

    var body: some View {
        List(notes.value ?? []) { note in Text(note.text) }
            .overlay { LoadingOverlay(state: notes) }
    }
}
// end

// sample: what lies over a list
struct LoadingOverlay<Input: Sendable, Output: Sendable>: View {
    let state: IntegrationState<Input, Output>

    var body: some View {
        switch state.phase {
        case .loading(previous: nil):
            ProgressView()
        case .failed(let error, previous: nil):
            ContentUnavailableView {
                Label("Nothing to show", systemImage: "wifi.slash")
            } description: {
                Text(error.localizedDescription)
            } actions: {
                Button("Try again") { state.reload() }
            }
        case .idle, .loading, .loaded, .failed:
            EmptyView()
        }
    }
}
// end

// sample: a detail view
struct NoteView: View {
    let id: Note.ID
    @State private var note = IntegrationState(Integrator(LoadNote(), executing: .latest))

    var body: some View {
        Text(note.value?.text ?? "")
            .overlay { LoadingOverlay(state: note) }
            .task(id: id) { await note.run(id, keepingValue: false) }
    }
}
// end

// sample: previews
struct NoteList_Previews: PreviewProvider {
    static var previews: some View {
        NoteList(notes: notes(.loading(previous: nil)))
        NoteList(notes: notes(.loaded([Note(id: 1, text: "Buy apples")])))
        NoteList(notes: notes(.failed(URLError(.notConnectedToInternet), previous: nil)))
    }

    private static func notes(
        _ phase: IntegrationState<String, [Note]>.Phase
    ) -> IntegrationState<String, [Note]> {
        IntegrationState(Integrator(ValueDataProvider([])), phase: phase)
    }
}
// end

// sample: a model of the main actor's module
nonisolated struct NotesAnswer: Decodable, Sendable {
    let notes: [Note]
}

struct NoteTitles: DataModel {
    let titles: [String]
    init(from source: NotesAnswer) { titles = source.notes.map(\.text) }
}
// end

// sample: a handler for the main actor
nonisolated func countNotes(
    _ notes: Integrator<String, [Note]>, show: @escaping @MainActor (Int) -> Void
) {
    notes.prepareCall("")
        .onSuccess { @MainActor found in show(found.count) }
        .call()
}
// end
