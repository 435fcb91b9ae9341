extension ServiceRequest {
    /// Names and values in an order: the query of a URL, or the fields of a form.
    ///
    /// A value of nil isn't sent, an empty one is. A name may occur more than once. Everything but letters, digits and
    /// `-._~` is escaped.
    public struct Query: Sendable, Hashable {
        /// A name with its value.
        public struct Item: Sendable, Hashable {
            /// The name of the value.
            public var name: String
            /// The value.
            public var content: Content
            /// True if the value is secret, whatever its name.
            var isSecret = false

            /// Makes an item.
            public init(_ name: String, _ value: (any ServiceQueryValue)?) {
                self.name = name
                content = value?.queryContent ?? .none
            }
        }

        /// The notations for lists.
        public enum ListStyle: Sendable, Hashable {
            /// `tags=new&tags=free`
            case repeated
            /// `tags[]=new&tags[]=free`
            case brackets
            /// `tags=new,free`. A comma inside of a value is escaped.
            case commas
        }

        /// The names and values, in the order in which they are sent.
        public var items: [Item]
        /// The notation for lists.
        public var listStyle: ListStyle

        /// A query without items.
        public init() { self.init([]) }

        /// A query of some items.
        public init(_ items: [Item], listStyle: ListStyle = .repeated) {
            self.items = items
            self.listStyle = listStyle
        }

        /// The first value under a name. Nil without one.
        ///
        /// Setting a value replaces all items of the name, at the place of the first one; nil removes them.
        public subscript(_ name: String) -> (any ServiceQueryValue)? {
            get {
                switch items.first(where: { $0.name == name })?.content {
                case .single(let value): value
                case .list(let values): values
                case .some(.none), nil: nil
                }
            }
            set {
                let place = items.firstIndex { $0.name == name }
                items.removeAll { $0.name == name }
                if let newValue { items.insert(Item(name, newValue), at: place ?? items.endIndex) }
            }
        }

        /// Adds an item, beside those of the same name.
        public mutating func add(_ name: String, _ value: (any ServiceQueryValue)?) {
            items.append(Item(name, value))
        }
    }
}

extension ServiceRequest.Query: ExpressibleByDictionaryLiteral {
    /// The items as they are written. A name may stand there more than once.
    public init(dictionaryLiteral elements: (String, (any ServiceQueryValue)?)...) {
        self.init(elements.map { Item($0.0, $0.1) })
    }
}

extension ServiceRequest.Query {
    /// The names of the items that are marked as secret.
    var secretNames: [String] { items.filter(\.isSecret).map(\.name) }

    /// Makes a secret of each item that another query doesn't hold.
    mutating func keepSecret(unlessIn known: Self) {
        for index in items.indices where !known.items.contains(items[index]) { items[index].isSecret = true }
    }

    /// Returns a test for secret values, by the name of the item, the other items and the value.
    func secrets(by redaction: ServiceRedaction) -> (Item, String) -> Bool {
        let pairIsSecret = redaction.isSecretPair(items)
        return { item, value in
            redaction.isSecret(item) || pairIsSecret && ServiceRedaction.isContent(item.name)
                || redaction.findsSecret(in: value)
        }
    }

    /// The query as it stands behind the `?` of a URL. Empty if there is nothing to send.
    func encodedForURL(redacted redaction: ServiceRedaction = .none) -> String {
        encoded(redacted: redaction) { $0.percentEncoded(keeping: .unreserved) }
    }

    func encodedForForm(redacted redaction: ServiceRedaction = .none) -> String {
        encoded(redacted: redaction) { $0.formEncoded() }
    }

    private func encoded(redacted redaction: ServiceRedaction, by encode: (String) -> String) -> String {
        let isSecret = secrets(by: redaction)
        return items.flatMap { item -> [String] in
            let name = encode(item.name)
            let values = item.content.values.map { isSecret(item, $0) ? ServiceRedaction.mark : encode($0) }
            guard case .list = item.content else { return values.map { "\(name)=\($0)" } }
            switch listStyle {
            case .repeated: return values.map { "\(name)=\($0)" }
            case .brackets: return values.map { "\(name)\(encode("[]"))=\($0)" }
            case .commas: return values.isEmpty ? [] : ["\(name)=\(values.joined(separator: ","))"]
            }
        }.joined(separator: "&")
    }
}

extension ServiceRequest.Query: CustomStringConvertible, CustomReflectable {
    public var description: String { encodedForURL(redacted: .standard) }

    /// The redacted description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension ServiceRequest.Query.Item: CustomStringConvertible, CustomReflectable {
    public var description: String { ServiceRequest.Query([self]).description }

    /// The redacted description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
