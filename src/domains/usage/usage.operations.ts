import { type Static, Type } from "typebox";
import { defineOperation } from "../../contract/operation.ts";
import { pageParameters } from "../../contract/paging.ts";
import { Choice, Int32, LargeCount, Timestamp } from "../../contract/schemas.ts";
import { account } from "../accounts/accounts.operations.ts";

/** Far more than the number of operations and statuses, including those of earlier releases. */
const MAX_COUNTS = 10_000;

const UsageInterval = Type.Object(
  {
    start: Timestamp({ description: "When the hour or day begins." }),
    requests: LargeCount({ description: "All requests in the interval.", minimum: 1 }),
    operations: Type.Array(
      Type.Object(
        {
          operation: Type.Optional(
            Type.String({ description: "The operation. Absent for requests whose path and method match none." }),
          ),
          status: Int32({ description: "The status of the responses.", minimum: 100, maximum: 599 }),
          requests: LargeCount({ description: "The number of requests.", minimum: 1 }),
          deprecated: Type.Optional(Type.Boolean({ description: "True for a deprecated operation." })),
        },
        { title: "UsageCount", description: "Requests of one operation with the same response status." },
      ),
      { description: "The same requests by operation and status.", maxItems: MAX_COUNTS },
    ),
  },
  { title: "UsageInterval", description: "Requests of a shop in an hour or a day." },
);
export type UsageInterval = Static<typeof UsageInterval>;

const granularity = Choice(["hour", "day"], {
  title: "UsageGranularity",
  description: "The length of the intervals: an hour or a UTC day. They go back 30 days.",
  default: "hour",
});
export type Granularity = Static<typeof granularity>;

const getUsage = defineOperation({
  name: "getUsage",
  method: "GET",
  path: "/usage",
  tag: account,
  summary: "Get the shop's usage",
  description:
    "Returns the number of requests of all keys of the shop, by operation and response status, newest first, one " +
    "page at a time. Empty intervals, requests without a valid key, and operations that cost no quota are left out. " +
    "If the service is killed, the last seconds may be missing.",
  separateQuota: "plan",
  query: Type.Object({
    granularity,
    keyId: Type.Optional(
      Type.String({
        description: "Counts the requests of this key only.",
        minLength: 1,
        maxLength: 64,
        pattern: "^[0-9A-Za-z_]+$",
        examples: ["key_5fQ0c2mN8xWbT1Lz"],
      }),
    ),
    ...pageParameters("intervals", 24),
  }),
  paged: {
    position: Type.Integer({ description: "The start of an interval.", minimum: 0, examples: [1_795_262_400] }),
  },
  response: {
    status: 200,
    description: "A page of intervals.",
    schema: Type.Array(UsageInterval, { title: "Usage", description: "Intervals, newest first." }),
    examples: {
      "Two hours": [
        {
          start: "2026-11-21T12:00:00.000Z",
          requests: 41,
          operations: [
            { operation: "createPet", status: 201, requests: 1 },
            { operation: "getPet", status: 200, requests: 4, deprecated: true },
            { operation: "listPets", status: 200, requests: 36 },
          ],
        },
        {
          start: "2026-11-21T09:00:00.000Z",
          requests: 2,
          operations: [
            { status: 404, requests: 1 },
            { operation: "listPets", status: 429, requests: 1 },
          ],
        },
      ],
      "No request": [],
    },
  },
});

export const usageOperations = [getUsage] as const;
