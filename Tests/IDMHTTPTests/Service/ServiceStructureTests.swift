import Foundation
import IDMCore
import TestSupport
import Testing

@testable import IDMHTTP

@Suite("The structure of services", .timeLimit(.ample))
struct ServiceStructureTests {
    private struct Cities: DecodableResource {
        var request: ServiceRequest { ServiceRequest(.get, "/cities") }
        typealias Value = [String]
    }

    private struct BundledCities: FileResource, DecodableReading {
        let file: URL
        typealias Value = [String]
    }

    @Test("a service shows its address within its interceptors")
    func service() throws {
        let service = try HTTPService(
            ScriptedTransport(), interceptors: [TraceInterceptor(TraceRecorder()), RetryInterceptor(1)])
        #expect(
            service.structure.description == """
                TraceInterceptor
                └─ RetryInterceptor
                   └─ service: https://h/v1, over ScriptedTransport
                """)
        #expect(
            service.structure.mermaid == """
                flowchart LR
                    subgraph n1["TraceInterceptor"]
                        subgraph n2["RetryInterceptor"]
                            n3["service: https://h/v1, over ScriptedTransport"]
                        end
                    end
                """)
    }

    @Test("secrets in the address of a service aren't shown")
    func secrets() throws {
        let url = try #require(URL(string: "https://ada:s3cret@h/v1?token=s3cret"))
        let service = HTTPService(configuration: ServiceConfiguration(baseURL: url), transport: ScriptedTransport())
        #expect(
            service.structure
                == .provider("service: https://<redacted>@h/v1?token=<redacted>, over ScriptedTransport"))
        let chain = InterceptorChain([RetryInterceptor(1)], configuration: service.configuration) { _ in
            ServiceResponse()
        }
        #expect("\(service.configuration)" == "https://<redacted>@h/v1?token=<redacted>")
        #expect("\(service)" == service.structure.description)
        #expect("\(chain)" == "RetryInterceptor → https://<redacted>@h/v1?token=<redacted>")
        var dumped = ""
        dump((service, service.configuration, chain), to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }

    @Test("providers of a service show its structure")
    func around() throws {
        let service = try HTTPService(ScriptedTransport())
        let inner = service.structure
        #expect(
            service.provider(for: Cities.self).structure == .wrapping(inner, in: "resource: Cities → Array<String>"))
        #expect(DownloadProvider(service).structure == .wrapping(inner, in: "download"))
        #expect(UploadProvider(service).structure == .wrapping(inner, in: "upload"))
        #expect(
            FileDataProvider<BundledCities>().structure == .provider("file: BundledCities → Array<String>"))
    }
}
