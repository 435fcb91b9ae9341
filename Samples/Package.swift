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
            dependencies: [.product(name: "IDMCore", package: "IDM")],
            path: "UserSearch"
        ),
        .executableTarget(
            name: "Sync",
            dependencies: [
                .product(name: "IDMCore", package: "IDM"), .product(name: "IDMOperations", package: "IDM"),
            ],
            path: "Sync"
        ),
        .executableTarget(
            name: "CachedThenRemote",
            dependencies: [
                .product(name: "IDMCore", package: "IDM"), .product(name: "IDMCaching", package: "IDM"),
            ],
            path: "CachedThenRemote"
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "AllocationCounter", .product(name: "IDMCore", package: "IDM"),
                .product(name: "IDMCaching", package: "IDM"), .product(name: "IDMOperations", package: "IDM"),
            ],
            path: "Benchmarks"
        ),
        .target(name: "AllocationCounter", path: "AllocationCounter"),
    ],
    swiftLanguageModes: [.v6]
)
