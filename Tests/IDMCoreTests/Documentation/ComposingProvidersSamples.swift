import IDMCore

extension Surroundings {
    private static func composingProviders(token: String, isOnline: Bool) async throws {
        do {
            // sample: sequences
            let profile = TokenDataProvider() >>>> ProfileDataProvider() >>>> Profile.self
            let greeting = profile >>>> { profile in "Hello, \(profile.name)" }
            // end
            _ = try await greeting.request()
        }

        do {
            // sample: groups
            let dashboard = ProfileDataProvider() >><< InboxDataProvider() >><< NewsDataProvider()
            let (profile, inbox, news) = try await dashboard.request((token, token, .today))
            // end
            _ = (profile, inbox, news)
        }

        do {
            // sample: collecting results
            let attempts = (ProfileDataProvider() >><< InboxDataProvider()).collectingResults()
            let (profile, inbox) = try await attempts.request((token, token))
            // end
            _ = (profile, inbox)
        }

        do {
            // sample: groups within groups
            let pair = ProfileDataProvider() >><< InboxDataProvider()
            let three = pair >><< NewsDataProvider()
            let pairAndOne = pair.grouped() >><< NewsDataProvider()
            // end
            _ = try await three.request((token, token, .today))
            _ = try await pairAndOne.request(((token, token), .today))
        }

        do {
            struct Users: DataModel {
                init(from source: [String]) {}
            }
            // sample: precedence
            let source: any DataProvider<String, Users> =
                isOnline ? ServerDataProvider() >>>> Users.self : CacheDataProvider() >>>> Users.self
            // end
            _ = source
        }

        do {
            // sample: typed parameters
            let top = SearchDataProvider() >>>> { (names: [String]) in Array(names.prefix(10)) }
            let sorted = top >>>> { (names: [String]) in names.sorted() }
            // end
            _ = try await sorted.request("apple")
        }

        do {
            // sample: around a provider
            let robust = ServerDataProvider()
                .timeout(.seconds(5))
                .retry(2, delay: .constant(.seconds(1)), when: { error in error is ServerError })
                .fallback(to: CacheDataProvider())
            // end
            _ = try await robust.request("apple")
        }

        do {
            // sample: sharing requests
            let avatars = AvatarDataProvider().coalesced()
            // end
            _ = try await avatars.request(1)
        }

        do {
            // sample: progress
            struct PagesDataProvider: DataProvider {
                func request(_ pages: [Int]) async throws -> [String] {
                    var texts: [String] = []
                    for page in pages {
                        texts.append(try await library.text(of: page))
                        IntegrationProgress.report(
                            completed: Int64(texts.count), total: Int64(pages.count))
                    }
                    return texts
                }
            }
            // end
            _ = try await PagesDataProvider().request([1, 2])
        }
    }
}
