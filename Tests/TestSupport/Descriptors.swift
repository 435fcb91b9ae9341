#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Testing

/// Runs a body while the process may open no more descriptors. Open descriptors stay open.
///
/// For a moment only, and in a process of its own: where Dispatch needs a descriptor and finds none, it ends the
/// process. A limit, since of descriptors that are all taken another thread may give one back.
package func withoutDescriptors<R>(_ body: () -> R) throws -> R {
    #if canImport(Glibc)
    let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let descriptors = RLIMIT_NOFILE
    #endif
    var limits = rlimit()
    try #require(getrlimit(descriptors, &limits) == 0)
    var none = limits
    none.rlim_cur = 0
    try #require(setrlimit(descriptors, &none) == 0)
    let result = body()
    try #require(setrlimit(descriptors, &limits) == 0)
    return result
}
