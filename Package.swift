// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "IDM",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "IDMCore", targets: ["IDMCore"])
    ],
    targets: [
        .target(name: "IDMCore"),
        .testTarget(name: "IDMCoreTests", dependencies: ["IDMCore"]),
    ],
    swiftLanguageModes: [.v6]
)

// One list for every target, so that no target can fall behind the others.
for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
