import { Ajv2020, type Options } from "ajv/dist/2020.js";

/** RFC 3339, section 5.6. */
const fullDate = /^\d{4}-\d{2}-\d{2}$/;
const dateTime = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

const isDate = (text: string) => fullDate.test(text) && isDay(text);

/** True for a day that exists: `Date` alone takes February 30 as a day in March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** The formats of the document. Large integers are rounded when a test reads them. */
const formats = {
  int32: { type: "number", validate: (value: number) => Math.abs(value) < 2 ** 31 },
  int64: { type: "number", validate: (value: number) => Math.abs(value) <= 2 ** 63 },
  date: isDate,
  "date-time": (text: string) => dateTime.test(text) && isDay(text.slice(0, 10)),
  uri: /^[a-z][a-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i,
} as const;

function fail(message: string): never {
  throw new Error(message);
}

/** Validates against schemas of the document, formats included. It refuses unknown formats. */
export function newSchemaCheck(options: Options = {}): Ajv2020 {
  return new Ajv2020({ strict: false, formats, logger: { log: fail, warn: fail, error: fail }, ...options });
}
