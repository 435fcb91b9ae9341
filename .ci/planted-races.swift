// What the sanitizer has to report, also where it is shown what the runtime orders: two threads use a value, and
// nothing says which of them comes first. Run with the name of one of the values.
import Foundation

final class Box<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Runs a body on a thread of its own.
func begin(_ body: @escaping @Sendable () -> Void) {
    Thread(block: body).start()
}

let over = DispatchSemaphore(value: 0)
switch CommandLine.arguments.last {
case "number":
    let number = Box(0)
    for _ in 1...2 {
        begin {
            number.value += 1
            over.signal()
        }
    }
    for _ in 1...2 { over.wait() }
case "array":
    let array = Box([1, 2, 3])
    for _ in 1...2 {
        begin {
            array.value.append(1)
            array.value[0] = 2
            over.signal()
        }
    }
    for _ in 1...2 { over.wait() }
case "continuation":
    let number = Box(0)
    Task {
        await withUnsafeContinuation { continuation in
            begin {
                continuation.resume()
                number.value += 1
            }
        }
        number.value += 1
        over.signal()
    }
    over.wait()
default:
    print("number, array or continuation?")
}
