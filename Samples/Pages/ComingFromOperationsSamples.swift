import Foundation
import IDMCore
import IDMHTTP
import IDMOperations

nonisolated struct Account: Sendable {
    let id: Int
}

struct LoadFolders: DataProvider {
    func request(_ account: Account) async throws -> [String] { ["inbox"] }
}

struct LoadContacts: DataProvider {
    func request(_ account: Account) async throws -> [String] { ["ada"] }
}

struct SaveAll: DataProvider {
    func request(_ names: [String]) async throws -> Int { names.count }
}

/// A stand-in for an operation that an app has.
nonisolated final class ResizeOperation: Operation, @unchecked Sendable {
    private(set) var resized = Data()
    init(_ image: Data) { resized = image }
}

@MainActor
private func operations(_ account: Account, show: @escaping @MainActor (Int) -> Void) async throws {
    // sample: an operation around a provider
    let queue = OperationQueue()
    let folders = DataProviderOperation(LoadFolders(), account)
        .onSuccess { names in show(names.count) }
        .onError { error in print(error.localizedDescription) }
    queue.addOperation(folders)
    // end

    // sample: a dependency that passes a value
    let save = DataProviderOperation(SaveAll(), from: folders) { names in names }
    let saved = try await {
        queue.addOperation(save); return try await save.value
    }()
    // end
    show(saved)

    // sample: the same without operations
    let saveFolders = LoadFolders() >>>> SaveAll()
    let count = try await saveFolders.request(account)
    // end
    show(count)

    // sample: a graph
    var graph = OperationGraph<Account>(width: 4)
    let all = graph.add("folders", LoadFolders())
    let contacts = graph.add("contacts", LoadContacts())
    let store = graph.add("store", SaveAll(), from: all, contacts) { _, folders, contacts in
        folders + contacts
    }
    let results = try await graph.request(account)
    show(results[store] ?? 0)
    // end

    // sample: an operation that you have
    let resize = OperationDataProvider { (image: Data) in
        ResizeOperation(image)
    } output: { operation in
        operation.resized
    }
    let image = try await resize.request(Data())
    // end
    _ = image

    // sample: instead of a limit of the queue
    let loads = Integrator(LoadFolders(), executing: .queue(width: 3))
    let every = LoadFolders().each(limit: 3)
    // end
    _ = (loads, every)
}
