// swift-tools-version: 6.2
import PackageDescription

// A package of its own, which sees what a user of IDM sees: the public products, and no special settings.
let package = Package(
    name: "Samples",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    dependencies: [
        .package(name: "IDM", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "UserSearch",
            dependencies: [
                "Console", .product(name: "IDMCaching", package: "IDM"), .product(name: "IDMCore", package: "IDM"),
                .product(name: "IDMHTTP", package: "IDM"), .product(name: "IDMHTTPTesting", package: "IDM"),
            ],
            path: "UserSearch"
        ),
        .executableTarget(
            name: "FirstCalls",
            dependencies: ["Console", .product(name: "IDMCore", package: "IDM")],
            path: "FirstCalls"
        ),
        .executableTarget(
            name: "Composition",
            dependencies: ["Console", .product(name: "IDMCore", package: "IDM")],
            path: "Composition"
        ),
        .executableTarget(
            name: "Sync",
            dependencies: [
                "Console", .product(name: "IDMCore", package: "IDM"), .product(name: "IDMOperations", package: "IDM"),
            ],
            path: "Sync"
        ),
        .executableTarget(
            name: "Transfer",
            dependencies: [
                "Console", .product(name: "IDMCore", package: "IDM"), .product(name: "IDMHTTP", package: "IDM"),
                .product(name: "IDMHTTPTesting", package: "IDM"),
            ],
            path: "Transfer"
        ),
        .executableTarget(
            name: "CachedThenRemote",
            dependencies: [
                "Console", .product(name: "IDMCaching", package: "IDM"), .product(name: "IDMCore", package: "IDM"),
            ],
            path: "CachedThenRemote"
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Console", "Counters", .product(name: "IDMCaching", package: "IDM"),
                .product(name: "IDMCore", package: "IDM"), .product(name: "IDMHTTP", package: "IDM"),
                .product(name: "IDMOperations", package: "IDM"), .product(name: "IDMHTTPTesting", package: "IDM"),
            ],
            path: "Benchmarks"
        ),
        // What the samples share that has nothing to do with what they show: the command line.
        .target(name: "Console", path: "Console"),
        .target(name: "Counters", path: "Counters"),
    ],
    swiftLanguageModes: [.v6]
)

#if os(Linux)
// Where SwiftUI and UIKit don't exist, samples that use them are type-checked against these.
package.targets += [
    .target(name: "SwiftUI", path: "StandIns/SwiftUI"), .target(name: "UIKit", path: "StandIns/UIKit"),
]
let frameworks: [Target.Dependency] = ["SwiftUI", "UIKit"]
#else
let frameworks: [Target.Dependency] = []
#endif

// The code of the README, of the recipes and of the pages for newcomers. It is compiled twice: as a package compiles it,
// and as a new Xcode project does, which isolates everything to the main actor. There each folder has a link as a twin.
let libraries: [Target.Dependency] = [
    "IDMCore", "IDMCaching", "IDMHTTP", "IDMOperations",
].map { .product(name: $0, package: "IDM") }
let testLibraries: [Target.Dependency] = [
    "IDMCore", "IDMHTTP", "IDMTesting", "IDMTestSupport", "IDMHTTPTesting",
].map { .product(name: $0, package: "IDM") }
for (twin, settings) in [("", []), ("OnMainActor", [SwiftSetting.defaultIsolation(MainActor.self)])] {
    for folder in ["Readme", "Pages"] {
        package.targets.append(
            .target(
                name: folder + twin, dependencies: libraries + frameworks, path: folder + twin, swiftSettings: settings)
        )
    }
    package.targets.append(
        .testTarget(
            name: "PagesTests" + twin, dependencies: testLibraries, path: "PagesTests" + twin, swiftSettings: settings))
}
// An app whose code is isolated to the main actor by default, as in a new Xcode project.
package.targets.append(
    .executableTarget(
        name: "SearchApp",
        dependencies: frameworks + ["IDMCaching", "IDMCore", "IDMHTTP"].map { .product(name: $0, package: "IDM") },
        path: "SearchApp", swiftSettings: [.defaultIsolation(MainActor.self)]))
