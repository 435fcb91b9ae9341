// The name of the output is a variable for C, and none that anybody changes.
#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#else
@preconcurrency import Darwin
#endif

/// What a program prints.
enum Output {
    /// Lets each line be seen as soon as it is printed, also by what reads it from a pipe: if the program is ended from
    /// outside, none is lost.
    static func showEachLine() {
        setvbuf(stdout, nil, _IOLBF, 0)
    }
}
