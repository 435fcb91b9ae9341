// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "IDM",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "IDMCore", targets: ["IDMCore"]),
        .library(name: "IDMCaching", targets: ["IDMCaching"]),
        .library(name: "IDMHTTP", targets: ["IDMHTTP"]),
        .library(name: "IDMOperations", targets: ["IDMOperations"]),
        .library(name: "IDMTesting", targets: ["IDMTesting"]),
        .library(name: "IDMHTTPTesting", targets: ["IDMHTTPTesting"]),
        .library(name: "IDMCachingTesting", targets: ["IDMCachingTesting"]),
        // For test targets only: it links the test frameworks, which an app or a preview must not.
        .library(name: "IDMTestSupport", targets: ["IDMTestSupport", "IDMTesting"]),
    ],
    targets: [
        .target(name: "IDMCore"),
        .target(name: "IDMFiles", resources: [.copy("PrivacyInfo.xcprivacy")]),
        .target(
            name: "IDMCaching", dependencies: ["IDMCore", "IDMFiles"], resources: [.copy("PrivacyInfo.xcprivacy")]),
        // The system's libcurl, bound at run time.
        .target(name: "CIDMCurl"),
        .target(
            name: "IDMHTTP",
            dependencies: ["IDMCore", "IDMFiles", .target(name: "CIDMCurl", condition: .when(platforms: [.linux]))],
            resources: [.copy("PrivacyInfo.xcprivacy")]),
        .target(name: "IDMOperations", dependencies: ["IDMCore"]),
        .target(name: "IDMTesting", dependencies: ["IDMCore"]),
        .target(name: "IDMHTTPTesting", dependencies: ["IDMCore", "IDMHTTP", "IDMTesting"]),
        .target(name: "IDMCachingTesting", dependencies: ["IDMCaching", "IDMTesting"]),
        .target(name: "IDMTestSupport", dependencies: ["IDMTesting"]),
        .target(
            name: "TestSupport", dependencies: ["IDMCore", "IDMTestSupport", "IDMTesting"], path: "Tests/TestSupport"),
        .testTarget(name: "IDMCoreTests", dependencies: ["IDMCore", "IDMTesting", "TestSupport"]),
        .testTarget(name: "MigrationTests", dependencies: ["IDMCore"]),
        .testTarget(name: "IDMFilesTests", dependencies: ["IDMFiles"]),
        .testTarget(
            name: "IDMCachingTests",
            dependencies: ["IDMCaching", "IDMCachingTesting", "IDMCore", "IDMFiles", "IDMTesting", "TestSupport"]),
        .testTarget(
            name: "IDMHTTPTests",
            dependencies: ["IDMCore", "IDMFiles", "IDMHTTP", "IDMHTTPTesting", "IDMTesting", "TestSupport"]),
        .testTarget(
            name: "IDMOperationsTests",
            dependencies: ["IDMCore", "IDMHTTP", "IDMHTTPTesting", "IDMOperations", "IDMTesting", "TestSupport"]),
        .testTarget(name: "IDMTestingTests", dependencies: ["IDMCore", "IDMTestSupport", "IDMTesting", "TestSupport"]),
        .testTarget(
            name: "IDMHTTPTestingTests",
            dependencies: ["IDMCore", "IDMHTTP", "IDMHTTPTesting", "IDMTesting", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// One list for every target, so that no target can fall behind the others.
var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
// The checks set the variable. Nobody else's build is to fail on a warning that a newer compiler brings.
if Context.environment["IDM_WARNINGS_AS_ERRORS"] == "1" {
    settings.append(.treatAllWarnings(as: .error))
}
// The sanitizer's step builds the tests of some modules only.
if let chosen = Context.environment["IDM_TESTS"]?.split(separator: ",") {
    package.targets.removeAll { target in target.type == .test && !chosen.contains { $0 == target.name } }
}
for target in package.targets {
    // Code for the original is compiled as an app compiles it, with the deprecations that it is there to get.
    target.swiftSettings = target.name == "MigrationTests" ? [.swiftLanguageMode(.v5)] : settings
}
// The tests of what users run, which is optimized. They aren't so themselves: the optimizer ends on some of them.
if Context.environment["IDM_OPTIMIZED"] == "1" {
    for target in package.targets where target.type == .test || target.name == "TestSupport" {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
    }
}
