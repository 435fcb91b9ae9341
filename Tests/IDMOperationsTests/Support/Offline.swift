/// What a provider throws that can't reach its server.
struct Offline: Error, Equatable {}
