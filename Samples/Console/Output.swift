// `stdout` is a variable in C, and never changed.
#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#else
@preconcurrency import Darwin
#endif

/// The standard output.
enum Output {
    /// Flushes each line when it is printed, also into a pipe, so that no line is lost if the program is killed.
    static func showEachLine() {
        setvbuf(stdout, nil, _IOLBF, 0)
    }
}
