import type { RequestRecord } from "petstore-client";
import { baseUrl } from "../router.tsx";

/** The request as a curl command, without its query, key and body: they are not recorded. */
export function curlOf({ method, path = "" }: RequestRecord): string {
  const hasBody = method.startsWith("P");
  const lines = [
    `curl -i -X ${method} '${baseUrl}${path.replaceAll("'", "%27")}'`,
    '-H "Authorization: Bearer $PETSTORE_KEY"',
    ...(hasBody ? ["-H 'Content-Type: application/json'", "-d @body.json"] : []),
  ];
  return lines.join(" \\\n  ");
}
