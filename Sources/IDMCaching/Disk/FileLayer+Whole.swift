extension FileLayer {
    /// Writes all of some bytes. What was written is counted, whether it fails or not.
    func writeAll(_ file: Int32, _ bytes: [UInt8], counting written: inout Int) throws(FileFault) {
        var fault: FileFault?
        bytes.withUnsafeBytes { bytes in
            do throws(FileFault) {
                while written < bytes.count {
                    written += try write(file, UnsafeRawBufferPointer(rebasing: bytes[written...]))
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
    }

    /// Reads so many bytes, or fewer if the file ends before.
    ///
    /// - Parameter offset: Where they begin. Nil for where the last ones have ended.
    func readAll(_ file: Int32, length: Int, at offset: Int? = nil) throws(FileFault) -> [UInt8] {
        var fault: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(FileFault) {
                while count < length {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let more =
                        if let offset { try read(file, rest, at: offset + count) } else { try read(file, rest) }
                    if more == 0 { break }
                    count += more
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }
}
