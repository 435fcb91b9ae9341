import IDMCore

extension Surroundings {
    private static func choosingAnExecutingType(clock: any Clock<Duration>) {
        // sample: default
        let articles = Integrator(ArticleDataProvider())
        // end

        // sample: only
        let payment = Integrator(PaymentDataProvider(), executing: .only)
        // end

        // sample: only, joining
        let account = Integrator(AccountDataProvider(), executing: .only(joining: true))
        // end

        // sample: queue
        let edits = Integrator(EditDataProvider(), executing: .queue)
        // end

        // sample: queue, with a width
        let downloads = Integrator(ImageDataProvider(), executing: .queue(width: 2))
        // end

        // sample: queue, with a limit
        let uploads = Integrator(EditDataProvider(), executing: .queue(limit: 1))
        // end

        // sample: latest
        let search = Integrator(SearchDataProvider(), executing: .latest)
        // end

        // sample: latest, with a debounce
        let suggestions = Integrator(
            SearchDataProvider(), executing: .latest(debounce: .milliseconds(300)))
        // end

        // sample: lanes
        let saving = Integrator(
            SaveDataProvider(), executing: .only, lane: { article in article.id })
        // end

        // sample: time
        let timed = Integrator(
            SearchDataProvider(), executing: .latest(debounce: .seconds(1)), clock: clock)
        // end

        _ = (articles, payment, account, edits, downloads, uploads, search, suggestions, saving, timed)
    }
}
