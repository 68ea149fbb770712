const READ = ["authorization", "petstore-simulate", "if-none-match", "content-length", "x-request-id"];
const READ_OF_CREATE = [...READ, "idempotency-key", "content-type", "content-encoding"];
/** The total length of what was read. Without a use, the compiler could remove the reads. */
let length = 0;

/** Reads the headers that the service reads of a read, or of a create. */
export function readHeaders(headers, ofCreate = false) {
  for (const name of ofCreate ? READ_OF_CREATE : READ) length += headers.get(name)?.length ?? 0;
  return length;
}
