import { type Static, Type } from "typebox";
import { defineError, ErrorBody, MAX_FAULTS } from "../../contract/errors.ts";
import { withCommas } from "../../contract/messages.ts";
import { defineOperation } from "../../contract/operation.ts";
import { pagesOf } from "../../contract/paging.ts";
import { requestStages } from "../../contract/requests.ts";
import { Choice, DateTime, Int32, LargeCount, Timestamp } from "../../contract/schemas.ts";
import { account } from "../accounts/accounts.operations.ts";

/** Days that a record is stored. */
export const RETENTION_DAYS = 7;
/** The maximum number of stored records per shop. The oldest are deleted. */
export const MAX_RECORDS = 10_000;
/** The maximum number of records of one key in a second. */
export const MAX_PER_SECOND = 10;

export const requestNotFound = defineError({
  code: "request_not_found",
  status: 404,
  meaning: `The shop has no request record with this id. A record appears within a second and is kept for ${RETENTION_DAYS} days.`,
});

/** A text of letters, digits, `_` and `-`: an id, the name of an operation, or an error code. */
function plainText(description: string, maxLength: number, examples: string[]) {
  return Type.String({ description, minLength: 1, maxLength, pattern: "^[0-9A-Za-z_-]+$", examples });
}

export const statusClasses = ["2xx", "4xx", "5xx"] as const;
export type StatusClass = (typeof statusClasses)[number];

const RequestFault = Type.Object(ErrorBody.properties.details.items.properties, {
  title: "RequestFault",
  description: "One fault of a request that was rejected.",
});

const RequestRecord = Type.Object(
  {
    id: Type.String({ description: "The `X-Request-Id` of the response." }),
    clientRequestId: Type.Optional(Type.String({ description: "The `X-Request-Id` that the client sent." })),
    at: Timestamp({ description: "When the response was sent, in real time." }),
    method: Type.String({ description: "The HTTP method." }),
    operation: Type.Optional(Type.String({ description: "The operation. Absent if path and method match none." })),
    path: Type.Optional(
      Type.String({ description: "The path without the query. Absent if an id in it is malformed." }),
    ),
    keyId: Type.String({ description: "The key that sent it." }),
    address: Type.Optional(Type.String({ description: "The client's address: IPv4, or the first 64 bits of IPv6." })),
    status: Int32({ description: "The status of the response.", minimum: 100, maximum: 599 }),
    durationMs: Type.Number({ description: "How long it took, in milliseconds.", minimum: 0 }),
    limit: Type.Optional(LargeCount({ description: "`X-RateLimit-Limit` of the response.", minimum: 0 })),
    remaining: Type.Optional(LargeCount({ description: "`X-RateLimit-Remaining` of the response.", minimum: 0 })),
    code: Type.Optional(
      Type.String({ description: "The error code. Only failures have `code`, `stage`, `message` and `details`." }),
    ),
    stage: Type.Optional(
      Choice(requestStages, {
        title: "RequestStage",
        description: "The stage in which the request failed. Stages run in this order.",
      }),
    ),
    message: Type.Optional(Type.String({ description: "The error message." })),
    details: Type.Optional(
      Type.Array(RequestFault, { description: "The faults of an invalid input.", maxItems: MAX_FAULTS }),
    ),
    explanation: Type.String({ description: "What happened. For a failure, the stage and the reason." }),
    advice: Type.Optional(Type.String({ description: "How to fix a failure." })),
  },
  { title: "RequestRecord", description: "A request that failed, or any POST, PATCH or DELETE." },
);
export type RequestRecord = Static<typeof RequestRecord>;

const limited: RequestRecord = {
  id: "5f0c2a91d3b7e4806c1f",
  at: "2026-11-21T12:00:00.000Z",
  method: "GET",
  operation: "getPet",
  path: "/pets/7",
  keyId: "key_5fQ0c2mN8xWbT1Lz",
  address: "203.0.113.7",
  status: 429,
  durationMs: 0.08,
  limit: 60,
  remaining: 0,
  code: "rate_limit_exceeded",
  stage: "admit",
  message: "The 60 requests of the current window are used up. Try again in 12 seconds.",
  explanation:
    "A limit rejected the request: 60 requests per minute for all keys of the shop together. Try again in 12 seconds.",
  advice: "Wait as many seconds as Retry-After says before the next request. Requests sent earlier lead to a ban.",
};

const listRequests = defineOperation({
  name: "listRequests",
  method: "GET",
  path: "/requests",
  tag: account,
  stability: "beta",
  summary: "List recent changes and failures",
  aliases: ["errors"],
  description:
    "Returns failed requests and all POST, PATCH and DELETE requests of the shop, newest first. They are " +
    `stored for ${RETENTION_DAYS} days, up to ${withCommas(MAX_RECORDS)} per shop and ${MAX_PER_SECOND} per second and key. A record appears ` +
    "within a second. Bodies, queries and the text of keys are not recorded.",
  separateQuota: "plan",
  ...pagesOf({
    what: "requests",
    filters: {
      status: Type.Optional(
        Choice(statusClasses, {
          title: "StatusClass",
          description: "Class of the status: 2xx for successes, 4xx and 5xx for failures.",
        }),
      ),
      code: Type.Optional(plainText("The code of an error.", 64, ["rate_limit_exceeded"])),
      operation: Type.Optional(plainText("The name of an operation.", 64, ["createPet"])),
      keyId: Type.Optional(plainText("The key that sent the requests.", 64, ["key_5fQ0c2mN8xWbT1Lz"])),
      since: Type.Optional(DateTime({ description: "Only requests at or after this time." })),
      until: Type.Optional(DateTime({ description: "Only requests before this time." })),
    },
    position: Type.String({
      description: "When the response was sent, and its number.",
      pattern: "^[0-9]{1,15}-[0-9]{1,15}$",
      examples: ["1795262400000-17"],
    }),
    schema: Type.Array(RequestRecord, { title: "RequestRecords", description: "Requests, newest first." }),
    examples: { "A rejected request": [limited], "No request": [] },
  }),
});

const getRequest = defineOperation({
  name: "getRequest",
  method: "GET",
  path: "/requests/{requestId}",
  tag: account,
  stability: "beta",
  summary: "Explain a request",
  description:
    "Returns the record of a request that failed, or of any POST, PATCH or DELETE, with an explanation and advice. " +
    "Those with a revoked or expired key are in its shop. Others without a valid key are in none, so only the operator sees them.",
  separateQuota: "plan",
  params: {
    schema: Type.Object({ requestId: plainText("The `X-Request-Id` of a response.", 64, ["5f0c2a91d3b7e4806c1f"]) }),
    invalidError: requestNotFound,
  },
  agentTools: {
    explain_request: {
      does: "reads",
      takes: ["requestId"],
      gives: "request",
      explains: true,
      text: "Explain a failed call.",
    },
  },
  response: {
    status: 200,
    description: "The record.",
    schema: RequestRecord,
    examples: { "A rejected request": limited },
  },
});

export const requestOperations = [listRequests, getRequest] as const;
