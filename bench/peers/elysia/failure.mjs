/** Sets the status of an error, and returns its body. */
export function failure(set, status, code, message, details) {
  set.status = status;
  return { code, message, status, ...(details && { details }) };
}
