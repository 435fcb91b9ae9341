// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its program has no beginning but that of libFuzzer, and is built with it alone.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "IDM", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [.product(name: "IDMHTTP", package: "IDM"), .product(name: "IDMTesting", package: "IDM")],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    ],
    swiftLanguageModes: [.v6]
)
