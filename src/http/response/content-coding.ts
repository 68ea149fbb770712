/** Content codings in which fixed content is sent, the smallest result first. */
export const codings = ["br", "gzip", "identity"] as const;
export type Coding = (typeof codings)[number];

/**
 * The coding that an `Accept-Encoding` header prefers (RFC 9110, section 12.5.3). Ties go to the first in `codings`.
 * `identity` if there is no header, or it accepts none of them.
 */
export function preferredCoding(acceptEncoding: string | null): Coding {
  if (acceptEncoding === null) return "identity";
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(",")) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
    weights.set(coding, weightOf(parameters));
  }
  const weightFor = (coding: Coding) => weights.get(coding) ?? (coding === "identity" ? 0 : (weights.get("*") ?? 0));
  const best = Math.max(...codings.map(weightFor));
  return best > 0 ? (codings.find((coding) => weightFor(coding) === best) as Coding) : "identity";
}

/** The weight of a coding, from 0 (never) to 1; a malformed one counts as 0. */
function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  if (weight === undefined) return 1;
  const value = Number(weight.slice(2));
  return value >= 0 && value <= 1 ? value : 0;
}
