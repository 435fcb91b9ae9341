/// What a download survives.
public enum TransferDurability: String, Sendable, Hashable, Codable {
    /// The end of the process, at any moment and with nothing lost that was written. After the end of the whole system,
    /// a power cut among them, a download goes on from where it was paused last, or begins anew. So it does where its
    /// disk was taken away and connected again.
    case process
    /// All of that as well, from the last 64 MB on. What is done is on the disk before anybody is told. Slower.
    case power
}
