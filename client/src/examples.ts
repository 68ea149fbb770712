// Generated from the contract by `npm run derive`.

import type { BodySchema } from "./check-body.ts";

/** A response of the service, as its documentation shows it. */
export interface Example {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The headers of every response. */
export const headersOfAll: Readonly<Record<string, string>> = {
  "X-RateLimit-Limit": "60",
  "X-RateLimit-Remaining": "59",
  "X-RateLimit-Reset": "1795262460",
  "X-Request-Id": "5f0c2a91d3b7e4806c1f",
};

/** The success of each operation. In a path, `*` is a parameter. */
export const successes: Readonly<
  Record<
    string,
    Example & {
      readonly method: string;
      readonly path: string;
      readonly input?: { readonly isRequired: boolean; readonly schema: BodySchema };
    }
  >
> = {
  listPets: {
    method: "GET",
    path: "/pets",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":7,"name":"Rex","categoryId":1,"status":"available","price":{"amount":24900,"currency":"EUR"},"reference":"276098102345678"},{"id":8,"name":"Tom","categoryId":2}]',
  },
  createPet: {
    method: "POST",
    path: "/pets",
    status: 201,
    headers: { ETag: '"2gosa7pa2gv"', Location: "http://petstore.test/v1/pets/7", "Content-Type": "application/json" },
    body: '{"id":7,"name":"Rex","categoryId":1,"status":"available","price":{"amount":24900,"currency":"EUR"},"reference":"276098102345678"}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["name", "categoryId"],
        properties: {
          name: { type: "string", minLength: 1, maxLength: 255 },
          categoryId: { type: "integer" },
          status: { enum: ["available", "pending", "sold"], type: "string" },
          price: {
            type: "object",
            required: ["amount"],
            properties: {
              amount: { type: "integer", minimum: 0, maximum: 1000000000000 },
              currency: { type: "string", maxLength: 3 },
            },
            additionalProperties: false,
          },
          reference: { type: "string", minLength: 1, maxLength: 64 },
          metadata: { type: "object", additionalProperties: { type: "string", minLength: 0, maxLength: 500 } },
        },
        additionalProperties: false,
      },
    },
  },
  importPets: {
    method: "POST",
    path: "/pets/import",
    status: 201,
    headers: { "Content-Type": "application/json" },
    body: '{"animals":[{"index":0,"id":7,"outcome":"created"},{"index":1,"id":8,"outcome":"created"}],"faults":[]}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["animals"],
        properties: {
          animals: {
            type: "array",
            minItems: 1,
            maxItems: 500,
            items: {
              type: "object",
              required: ["name", "categoryId"],
              properties: {
                name: { type: "string", minLength: 1, maxLength: 255 },
                categoryId: { type: "integer" },
                status: { enum: ["available", "pending", "sold"], type: "string" },
                price: {
                  type: "object",
                  required: ["amount"],
                  properties: {
                    amount: { type: "integer", minimum: 0, maximum: 1000000000000 },
                    currency: { type: "string", maxLength: 3 },
                  },
                  additionalProperties: false,
                },
                reference: { type: "string", minLength: 1, maxLength: 64 },
                metadata: { type: "object", additionalProperties: { type: "string", minLength: 0, maxLength: 500 } },
              },
              additionalProperties: false,
            },
          },
          onError: { enum: ["skip"], type: "string" },
          onExisting: { enum: ["refuse", "skip", "update"], type: "string" },
        },
        additionalProperties: false,
      },
    },
  },
  deletePets: {
    method: "POST",
    path: "/pets/delete",
    status: 200,
    headers: { "Content-Type": "application/json" },
    body: '{"deleted":[7,8]}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["ids"],
        properties: { ids: { type: "array", minItems: 1, maxItems: 500, items: { type: "integer" } } },
        additionalProperties: false,
      },
    },
  },
  listCategories: {
    method: "GET",
    path: "/categories",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":5,"name":"Hamsters"},{"id":6,"name":"Rabbits"}]',
  },
  createCategory: {
    method: "POST",
    path: "/categories",
    status: 201,
    headers: {
      ETag: '"2gosa7pa2gv"',
      Location: "http://petstore.test/v1/categories/5",
      "Content-Type": "application/json",
    },
    body: '{"id":5,"name":"Hamsters"}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["name"],
        properties: {
          id: { type: "integer" },
          name: { type: "string", minLength: 1, maxLength: 255 },
          metadata: { type: "object", additionalProperties: { type: "string", minLength: 0, maxLength: 500 } },
        },
        additionalProperties: false,
      },
    },
  },
  listStoreOrders: {
    method: "GET",
    path: "/store/orders",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":1,"petId":1,"reference":"receipt 2026-117","status":"confirmed","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z","price":{"amount":24900,"currency":"EUR"},"seller":"Maria","confirmedBy":{"keyId":"key_5fQ0c2mN8xWbT1Lz","name":"till"},"petName":"Rex","categoryId":1,"confirmedAt":"2026-11-21T12:05:00.000Z"},{"id":2,"petId":3,"status":"placed","placedAt":"2026-11-21T12:01:00.000Z","expiresAt":"2026-11-21T12:16:00.000Z"}]',
  },
  placeStoreOrder: {
    method: "POST",
    path: "/store/orders",
    status: 201,
    headers: {
      ETag: '"2gosa7pa2gv"',
      Location: "http://petstore.test/v1/store/orders/1",
      "Content-Type": "application/json",
    },
    body: '{"id":1,"petId":1,"reference":"receipt 2026-117","status":"placed","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z"}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["petId"],
        properties: {
          petId: { type: "integer" },
          reference: { type: "string", minLength: 1, maxLength: 255 },
          price: {
            type: ["object", "null"],
            required: ["amount"],
            properties: {
              amount: { type: "integer", minimum: 0, maximum: 1000000000000 },
              currency: { type: "string", maxLength: 3 },
            },
            additionalProperties: false,
          },
          seller: { type: "string", minLength: 1, maxLength: 100 },
          expiresAt: { type: "string", maxLength: 40 },
          confirm: { type: "boolean" },
          metadata: { type: "object", additionalProperties: { type: "string", minLength: 0, maxLength: 500 } },
        },
        additionalProperties: false,
      },
    },
  },
  getSales: {
    method: "GET",
    path: "/store/sales",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"since":"2026-11-21T09:00:00.000Z","until":"2026-11-21T10:00:00.000Z","timeZone":"UTC","total":{"sold":2,"returned":1,"amounts":[{"currency":"EUR","sold":49800,"returned":24900,"net":24900}]},"days":[{"date":"2026-11-21","sold":2,"returned":1,"amounts":[{"currency":"EUR","sold":49800,"returned":24900,"net":24900}]}],"hours":[{"start":"2026-11-21T09:00:00.000Z","sold":2,"returned":1,"amounts":[{"currency":"EUR","sold":49800,"returned":24900,"net":24900}]}],"sellers":[{"name":"Maria","sold":2,"returned":1,"amounts":[{"currency":"EUR","sold":49800,"returned":24900,"net":24900}]}],"categories":[{"categoryId":1,"name":"Dogs","sold":2,"returned":1,"amounts":[{"currency":"EUR","sold":49800,"returned":24900,"net":24900}]}]}',
  },
  getSandbox: {
    method: "GET",
    path: "/sandbox",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"animals":6,"categories":4,"orders":1,"waiting":[{"kind":"reservation","count":1,"next":"2026-11-21T12:15:00.000Z"}]}',
  },
  fastForwardSandbox: {
    method: "POST",
    path: "/sandbox/fast-forward",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"animals":6,"categories":4,"orders":1,"waiting":[{"kind":"reservation","count":1,"next":"2026-11-21T12:15:00.000Z"}]}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["seconds"],
        properties: { seconds: { type: "integer", minimum: 1, maximum: 31622400 } },
        additionalProperties: false,
      },
    },
  },
  resetSandbox: {
    method: "POST",
    path: "/sandbox/reset",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"animals":6,"categories":4,"orders":1,"waiting":[{"kind":"reservation","count":1,"next":"2026-11-21T12:15:00.000Z"}]}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["animals"],
        properties: { animals: { enum: ["none", "samples"], type: "string" } },
        additionalProperties: false,
      },
    },
  },
  getShop: {
    method: "GET",
    path: "/shop",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"timeZone":"Europe/Berlin","currency":"EUR","animals":{"total":6,"available":3,"pending":1,"sold":1,"withoutStatus":1},"animalsAllowed":10000,"categories":[{"categoryId":1,"animals":4},{"categoryId":2,"animals":2}],"openOrders":1,"today":{"since":"2026-11-20T23:00:00.000Z","added":2,"markedSold":0,"sold":1,"expired":0,"returned":0}}',
  },
  updateShop: {
    method: "PATCH",
    path: "/shop",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"timeZone":"Europe/Berlin","currency":"EUR","animals":{"total":6,"available":3,"pending":1,"sold":1,"withoutStatus":1},"animalsAllowed":10000,"categories":[{"categoryId":1,"animals":4},{"categoryId":2,"animals":2}],"openOrders":1,"today":{"since":"2026-11-20T23:00:00.000Z","added":2,"markedSold":0,"sold":1,"expired":0,"returned":0}}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: {
          timeZone: { type: "string", maxLength: 64, minLength: 1 },
          currency: { type: ["string", "null"], maxLength: 3 },
        },
        additionalProperties: false,
      },
    },
  },
  getCurrentKey: {
    method: "GET",
    path: "/key",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":"key_5fQ0c2mN8xWbT1Lz","name":"till","mode":"test","hint":"psk_test_00…9fQ2","scopes":["read","write"],"createdAt":"2026-11-21T12:00:00.000Z","account":{"id":"acc_8sK2mX0qVb4TzR1c","name":"Corner shop","plan":"free"},"limits":{"minute":{"limit":60,"used":60,"remaining":0,"reset":1795282860},"day":{"limit":1000,"used":412,"remaining":588,"reset":1795305600}},"bans":{"next":60,"first":60,"longest":3600,"forgottenAfter":86400},"strikes":{"count":3,"untilBan":27}}',
  },
  listKeys: {
    method: "GET",
    path: "/keys",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":"key_5fQ0c2mN8xWbT1Lz","name":"till","mode":"test","hint":"psk_test_00…9fQ2","scopes":["read","write"],"createdAt":"2026-11-21T12:00:00.000Z","lastUsedAt":"2026-11-21T17:40:00.000Z"}]',
  },
  createKey: {
    method: "POST",
    path: "/keys",
    status: 201,
    headers: { "Content-Type": "application/json" },
    body: '{"key":"psk_test_00…9fQ2","id":"key_5fQ0c2mN8xWbT1Lz","name":"till","mode":"test","hint":"psk_test_00…9fQ2","scopes":["read","write"],"createdAt":"2026-11-21T12:00:00.000Z"}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["name", "scopes"],
        properties: {
          name: { type: "string", minLength: 1, maxLength: 100 },
          scopes: {
            type: "array",
            minItems: 1,
            maxItems: 3,
            items: { enum: ["read", "write", "admin"], type: "string" },
          },
          mode: { enum: ["live", "test"], type: "string" },
          expiresIn: { type: "integer", minimum: 60, maximum: 315360000 },
          limitPerMinute: { type: "integer", minimum: 1, maximum: 2147483647 },
        },
        additionalProperties: false,
      },
    },
  },
  getUsage: {
    method: "GET",
    path: "/usage",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"start":"2026-11-21T12:00:00.000Z","requests":41,"operations":[{"operation":"createPet","status":201,"requests":1},{"operation":"getPet","status":200,"requests":4,"deprecated":true},{"operation":"listPets","status":200,"requests":36}]},{"start":"2026-11-21T09:00:00.000Z","requests":2,"operations":[{"status":404,"requests":1},{"operation":"listPets","status":429,"requests":1}]}]',
  },
  listRequests: {
    method: "GET",
    path: "/requests",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":"5f0c2a91d3b7e4806c1f","at":"2026-11-21T12:00:00.000Z","method":"GET","operation":"getPet","path":"/pets/7","keyId":"key_5fQ0c2mN8xWbT1Lz","address":"203.0.113.7","status":429,"durationMs":0.08,"limit":60,"remaining":0,"code":"rate_limit_exceeded","stage":"admit","message":"The 60 requests of the current window are used up. Try again in 12 seconds.","explanation":"A limit rejected the request: 60 requests per minute for all keys of the shop together. Try again in 12 seconds.","advice":"Wait as many seconds as Retry-After says before the next request. Requests sent earlier lead to a ban."}]',
  },
  listEvents: {
    method: "GET",
    path: "/events",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":41,"type":"pet.created","at":"2026-11-21T12:00:00.000Z","actor":{"kind":"key","keyId":"key_1a2B3c4D5e6F7g8H","requestId":"5f0c2a91d3b7e4806c1f"},"subject":{"type":"pet","id":"7"},"data":{"id":7,"name":"Rex","categoryId":1,"status":"available"}},{"id":42,"type":"pet.updated","at":"2026-11-21T12:05:00.000Z","actor":{"kind":"key","keyId":"key_1a2B3c4D5e6F7g8H","requestId":"5f0c2a91d3b7e4806c1f"},"subject":{"type":"pet","id":"7"},"data":{"id":7,"name":"Rex","categoryId":1,"status":"pending"},"previous":{"status":"available"}}]',
  },
  streamEvents: {
    method: "GET",
    path: "/events/stream",
    status: 200,
    headers: { "Content-Type": "text/event-stream" },
    body: '{"id":42,"type":"pet.updated","at":"2026-11-21T12:05:00.000Z","actor":{"kind":"key","keyId":"key_1a2B3c4D5e6F7g8H","requestId":"5f0c2a91d3b7e4806c1f"},"subject":{"type":"pet","id":"7"},"data":{"id":7,"name":"Rex","categoryId":1,"status":"pending"},"previous":{"status":"available"}}',
  },
  listWebhookEndpoints: {
    method: "GET",
    path: "/webhook-endpoints",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":"we_5f0c2a8e1b7d94c3a6e0f1d2","url":"https://example.org/petstore","types":["order.placed","order.expired"],"description":"Orders for the till","state":"enabled","publicKey":"whpk_PM0iIqJ0PbCrv0WJKmi7xPJCFZnAxfP0d7NWdzNVy1c=","createdAt":"2026-11-21T12:00:00.000Z","successRate24h":1}]',
  },
  createWebhookEndpoint: {
    method: "POST",
    path: "/webhook-endpoints",
    status: 201,
    headers: {
      Location: "http://petstore.test/v1/webhook-endpoints/we_5f0c2a8e1b7d94c3a6e0f1d2",
      "Content-Type": "application/json",
    },
    body: '{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2c0rJ1PqVtM=","id":"we_5f0c2a8e1b7d94c3a6e0f1d2","url":"https://example.org/petstore","types":["order.placed","order.expired"],"description":"Orders for the till","state":"enabled","publicKey":"whpk_PM0iIqJ0PbCrv0WJKmi7xPJCFZnAxfP0d7NWdzNVy1c=","createdAt":"2026-11-21T12:00:00.000Z","successRate24h":1}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        required: ["url"],
        properties: {
          url: { type: "string", minLength: 1, maxLength: 2048 },
          types: {
            type: "array",
            minItems: 1,
            maxItems: 24,
            items: {
              enum: [
                "*",
                "pet.created",
                "pet.updated",
                "pet.deleted",
                "pets.reassigned",
                "category.created",
                "category.updated",
                "category.deleted",
                "order.placed",
                "order.confirmed",
                "order.cancelled",
                "order.expired",
                "order.returned",
                "order.updated",
                "shop.updated",
                "key.created",
                "key.updated",
                "key.rotated",
                "key.revoked",
                "key.banned",
                "webhook_endpoint.created",
                "webhook_endpoint.updated",
                "webhook_endpoint.disabled",
                "webhook_endpoint.deleted",
              ],
              type: "string",
            },
          },
          description: { type: "string", minLength: 0, maxLength: 255 },
        },
        additionalProperties: false,
      },
    },
  },
  getPet: {
    method: "GET",
    path: "/pets/*",
    status: 200,
    headers: {
      Deprecation: "@1795219200",
      Sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
      Link: '<http://petstore.test/docs#tag/animals/getPet>; rel="deprecation"; type="text/html", <http://petstore.test/v1/pets>; rel="successor-version"',
      ETag: '"2gosa7pa2gv"',
      "Content-Type": "application/json",
    },
    body: '{"id":7,"name":"Rex","categoryId":1,"status":"available","price":{"amount":24900,"currency":"EUR"},"reference":"276098102345678"}',
  },
  updatePet: {
    method: "PATCH",
    path: "/pets/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":7,"name":"Rex","categoryId":1,"status":"pending","price":{"amount":24900,"currency":"EUR"},"reference":"276098102345678"}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, maxLength: 255 },
          categoryId: { type: "integer" },
          status: { enum: ["available", "pending", "sold"], type: "string" },
          price: {
            type: ["object", "null"],
            required: ["amount"],
            properties: {
              amount: { type: "integer", minimum: 0, maximum: 1000000000000 },
              currency: { type: "string", maxLength: 3 },
            },
            additionalProperties: false,
          },
          reference: { type: ["string", "null"], minLength: 1, maxLength: 64 },
          metadata: {
            type: ["object", "null"],
            additionalProperties: { type: ["string", "null"], minLength: 0, maxLength: 500 },
          },
        },
        additionalProperties: false,
      },
    },
  },
  deletePet: { method: "DELETE", path: "/pets/*", status: 204, headers: {} },
  getCategory: {
    method: "GET",
    path: "/categories/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":5,"name":"Hamsters"}',
  },
  updateCategory: {
    method: "PATCH",
    path: "/categories/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":5,"name":"Golden hamsters"}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, maxLength: 255 },
          metadata: {
            type: ["object", "null"],
            additionalProperties: { type: ["string", "null"], minLength: 0, maxLength: 500 },
          },
        },
        additionalProperties: false,
      },
    },
  },
  deleteCategory: { method: "DELETE", path: "/categories/*", status: 204, headers: {} },
  getStoreOrder: {
    method: "GET",
    path: "/store/orders/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":1,"petId":1,"reference":"receipt 2026-117","status":"placed","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z"}',
  },
  updateStoreOrder: {
    method: "PATCH",
    path: "/store/orders/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":1,"petId":1,"reference":"receipt 2026-117","status":"placed","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z","metadata":{"till":"3"}}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: {
          reference: { type: ["string", "null"], minLength: 1, maxLength: 255 },
          expiresAt: { type: "string", maxLength: 40 },
          price: {
            type: ["object", "null"],
            required: ["amount"],
            properties: {
              amount: { type: "integer", minimum: 0, maximum: 1000000000000 },
              currency: { type: "string", maxLength: 3 },
            },
            additionalProperties: false,
          },
          metadata: {
            type: ["object", "null"],
            additionalProperties: { type: ["string", "null"], minLength: 0, maxLength: 500 },
          },
        },
        additionalProperties: false,
      },
    },
  },
  confirmStoreOrder: {
    method: "POST",
    path: "/store/orders/*/confirm",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":1,"petId":1,"reference":"receipt 2026-117","status":"confirmed","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z","price":{"amount":24900,"currency":"EUR"},"seller":"Maria","confirmedBy":{"keyId":"key_5fQ0c2mN8xWbT1Lz","name":"till"},"petName":"Rex","categoryId":1,"confirmedAt":"2026-11-21T12:05:00.000Z"}',
    input: {
      isRequired: false,
      schema: {
        type: "object",
        properties: {
          price: {
            type: ["object", "null"],
            required: ["amount"],
            properties: {
              amount: { type: "integer", minimum: 0, maximum: 1000000000000 },
              currency: { type: "string", maxLength: 3 },
            },
            additionalProperties: false,
          },
          seller: { type: "string", minLength: 1, maxLength: 100 },
        },
        additionalProperties: false,
      },
    },
  },
  cancelStoreOrder: {
    method: "POST",
    path: "/store/orders/*/cancel",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":1,"petId":1,"reference":"receipt 2026-117","status":"cancelled","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z","cancelledAt":"2026-11-21T12:05:00.000Z"}',
  },
  returnStoreOrder: {
    method: "POST",
    path: "/store/orders/*/return",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":1,"petId":1,"reference":"receipt 2026-117","status":"returned","placedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T12:15:00.000Z","price":{"amount":24900,"currency":"EUR"},"seller":"Maria","confirmedBy":{"keyId":"key_5fQ0c2mN8xWbT1Lz","name":"till"},"petName":"Rex","categoryId":1,"confirmedAt":"2026-11-21T12:05:00.000Z","returnedAt":"2026-11-28T09:30:00.000Z"}',
  },
  updateKey: {
    method: "PATCH",
    path: "/keys/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":"key_5fQ0c2mN8xWbT1Lz","name":"till","mode":"test","hint":"psk_test_00…9fQ2","scopes":["read","write"],"createdAt":"2026-11-21T12:00:00.000Z","limitPerMinute":30}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: { limitPerMinute: { type: ["integer", "null"], minimum: 1, maximum: 2147483647 } },
        additionalProperties: false,
      },
    },
  },
  rotateKey: {
    method: "POST",
    path: "/keys/*/rotate",
    status: 201,
    headers: { "Content-Type": "application/json" },
    body: '{"key":"psk_test_00…9fQ2","id":"key_5fQ0c2mN8xWbT1Lz","name":"till","mode":"test","hint":"psk_test_00…9fQ2","scopes":["read","write"],"createdAt":"2026-11-21T12:00:00.000Z","replaced":{"id":"key_0aB7nR4vXq2LtY9e","name":"till","mode":"test","hint":"psk_test_00…Tx0A","scopes":["read","write"],"createdAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-22T12:00:00.000Z"}}',
  },
  revokeKey: { method: "DELETE", path: "/keys/*", status: 204, headers: {} },
  getRequest: {
    method: "GET",
    path: "/requests/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":"5f0c2a91d3b7e4806c1f","at":"2026-11-21T12:00:00.000Z","method":"GET","operation":"getPet","path":"/pets/7","keyId":"key_5fQ0c2mN8xWbT1Lz","address":"203.0.113.7","status":429,"durationMs":0.08,"limit":60,"remaining":0,"code":"rate_limit_exceeded","stage":"admit","message":"The 60 requests of the current window are used up. Try again in 12 seconds.","explanation":"A limit rejected the request: 60 requests per minute for all keys of the shop together. Try again in 12 seconds.","advice":"Wait as many seconds as Retry-After says before the next request. Requests sent earlier lead to a ban."}',
  },
  getEvent: {
    method: "GET",
    path: "/events/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":42,"type":"pet.updated","at":"2026-11-21T12:05:00.000Z","actor":{"kind":"key","keyId":"key_1a2B3c4D5e6F7g8H","requestId":"5f0c2a91d3b7e4806c1f"},"subject":{"type":"pet","id":"7"},"data":{"id":7,"name":"Rex","categoryId":1,"status":"pending"},"previous":{"status":"available"}}',
  },
  getWebhookEndpoint: {
    method: "GET",
    path: "/webhook-endpoints/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":"we_5f0c2a8e1b7d94c3a6e0f1d2","url":"https://example.org/petstore","types":["order.placed","order.expired"],"description":"Orders for the till","state":"enabled","publicKey":"whpk_PM0iIqJ0PbCrv0WJKmi7xPJCFZnAxfP0d7NWdzNVy1c=","createdAt":"2026-11-21T12:00:00.000Z","successRate24h":1}',
  },
  updateWebhookEndpoint: {
    method: "PATCH",
    path: "/webhook-endpoints/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":"we_5f0c2a8e1b7d94c3a6e0f1d2","url":"https://example.org/petstore","types":["order.placed","order.expired"],"description":"Orders for the till","state":"paused","publicKey":"whpk_PM0iIqJ0PbCrv0WJKmi7xPJCFZnAxfP0d7NWdzNVy1c=","createdAt":"2026-11-21T12:00:00.000Z","successRate24h":1}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: {
          url: { type: "string", minLength: 1, maxLength: 2048 },
          types: {
            type: "array",
            minItems: 1,
            maxItems: 24,
            items: {
              enum: [
                "*",
                "pet.created",
                "pet.updated",
                "pet.deleted",
                "pets.reassigned",
                "category.created",
                "category.updated",
                "category.deleted",
                "order.placed",
                "order.confirmed",
                "order.cancelled",
                "order.expired",
                "order.returned",
                "order.updated",
                "shop.updated",
                "key.created",
                "key.updated",
                "key.rotated",
                "key.revoked",
                "key.banned",
                "webhook_endpoint.created",
                "webhook_endpoint.updated",
                "webhook_endpoint.disabled",
                "webhook_endpoint.deleted",
              ],
              type: "string",
            },
          },
          description: { type: "string", minLength: 0, maxLength: 255 },
          paused: { type: "boolean" },
          expiresAt: { type: "null" },
        },
        additionalProperties: false,
      },
    },
  },
  deleteWebhookEndpoint: { method: "DELETE", path: "/webhook-endpoints/*", status: 204, headers: {} },
  rotateWebhookSecret: {
    method: "POST",
    path: "/webhook-endpoints/*/rotate-secret",
    status: 200,
    headers: { "Content-Type": "application/json" },
    body: '{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2c0rJ1PqVtM=","id":"we_5f0c2a8e1b7d94c3a6e0f1d2","url":"https://example.org/petstore","types":["order.placed","order.expired"],"description":"Orders for the till","state":"enabled","publicKey":"whpk_PM0iIqJ0PbCrv0WJKmi7xPJCFZnAxfP0d7NWdzNVy1c=","createdAt":"2026-11-21T12:00:00.000Z","successRate24h":1}',
  },
  testWebhookEndpoint: { method: "POST", path: "/webhook-endpoints/*/test", status: 204, headers: {} },
  redeliverWebhooks: {
    method: "POST",
    path: "/webhook-endpoints/*/redeliver",
    status: 200,
    headers: { "Content-Type": "application/json" },
    body: '{"from":100,"to":250}',
    input: {
      isRequired: true,
      schema: {
        type: "object",
        properties: { from: { type: "integer" }, to: { type: "integer" }, deliveryId: { type: "integer" } },
        additionalProperties: false,
      },
    },
  },
  listWebhookDeliveries: {
    method: "GET",
    path: "/webhook-endpoints/*/deliveries",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '[{"id":17,"webhookId":"msg_3mN0c2mN8xWbT1Lz5fQ0c2mN","kind":"event","type":"order.placed","eventId":118,"attempt":1,"at":"2026-11-21T18:05:00.000Z","durationMs":42,"outcome":"failed","failure":"error_status","message":"The response status was not from 200 to 299.","status":500}]',
  },
  getWebhookDelivery: {
    method: "GET",
    path: "/webhook-endpoints/*/deliveries/*",
    status: 200,
    headers: { ETag: '"2gosa7pa2gv"', "Content-Type": "application/json" },
    body: '{"id":17,"webhookId":"msg_3mN0c2mN8xWbT1Lz5fQ0c2mN","kind":"event","type":"order.placed","eventId":118,"attempt":1,"at":"2026-11-21T18:05:00.000Z","durationMs":42,"outcome":"failed","failure":"error_status","message":"The response status was not from 200 to 299.","status":500,"response":"Internal Server Error"}',
  },
};

/** The error of each code. */
export const failures: Readonly<Record<string, Example>> = {
  invalid_request: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"invalid_request","message":"A header, the query or the body is invalid. `details` lists the faults.","status":400,"details":[{"path":"/query/limit","message":"must be at most 100"}]}',
  },
  missing_api_key: {
    status: 401,
    headers: { "WWW-Authenticate": 'Bearer realm="petstore"', "Content-Type": "application/json" },
    body: '{"code":"missing_api_key","message":"The request has no bearer token.","status":401}',
  },
  invalid_api_key: {
    status: 401,
    headers: { "WWW-Authenticate": 'Bearer realm="petstore"', "Content-Type": "application/json" },
    body: '{"code":"invalid_api_key","message":"The bearer token is not a valid API key. It is mistyped, unknown, expired or revoked.","status":401}',
  },
  account_suspended: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"account_suspended","message":"The operator has suspended the account of the API key. Nothing was done.","status":403}',
  },
  insufficient_scope: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"insufficient_scope","message":"The API key lacks a scope that the request needs.","status":403}',
  },
  rate_limit_exceeded: {
    status: 429,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"rate_limit_exceeded","message":"The requests allowed in the current minute or day are used up. `Retry-After` says when to continue.","status":429}',
  },
  key_banned: {
    status: 429,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"key_banned","message":"The API key kept sending requests after a 429 and is temporarily banned. `Retry-After` says when the ban ends.","status":429}',
  },
  internal_error: {
    status: 500,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"internal_error","message":"An internal error. It is logged with the `X-Request-Id` of the response.","status":500}',
  },
  overloaded: {
    status: 503,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"overloaded","message":"The service is overloaded. Nothing was done, and the request costs no quota. `Retry-After` says when to try again.","status":503}',
  },
  storage_unavailable: {
    status: 503,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"storage_unavailable","message":"The store is temporarily unavailable. A change may or may not have been made. `Retry-After` says when to try again.","status":503}',
  },
  request_timeout: {
    status: 408,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"request_timeout","message":"The body did not arrive within 10 seconds. The connection is closed.","status":408}',
  },
  reference_taken: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"reference_taken","message":"Another animal of the shop has this reference. The message names it.","status":409}',
  },
  shop_full: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"shop_full","message":"The shop may hold no more animals: see `animalsAllowed` of `GET /shop`. Delete some, or ask for another plan.","status":409}',
  },
  idempotency_key_in_use: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"idempotency_key_in_use","message":"A request with this `Idempotency-Key` is still running. `Retry-After` says when to repeat the request.","status":409}',
  },
  sandbox_was_reset: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"sandbox_was_reset","message":"The sandbox was reset while the request was waiting. Nothing was done.","status":409}',
  },
  payload_too_large: {
    status: 413,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"payload_too_large","message":"The body is larger than 64 KiB, or than the operation allows.","status":413}',
  },
  unsupported_media_type: {
    status: 415,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"unsupported_media_type","message":"The body has a content encoding, or a media type that the operation does not accept. All operations accept `application/json`.","status":415}',
  },
  idempotency_key_reused: {
    status: 422,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"idempotency_key_reused","message":"The `Idempotency-Key` was used before with another body, query or `If-Match`, or, if the response holds a secret, with another API key. Nothing was done.","status":422}',
  },
  pet_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"pet_not_found","message":"No animal has this identifier.","status":404}',
  },
  invalid_transition: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"invalid_transition","message":"An order sold the animal. Its status changes only when that order is returned.","status":409}',
  },
  pet_has_open_order: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"pet_has_open_order","message":"The animal has an open order. Until it closes, the animal cannot be deleted, and only the order changes its status.","status":409}',
  },
  precondition_failed: {
    status: 412,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"precondition_failed","message":"The resource no longer matches `If-Match`. Nothing was changed.","status":412}',
  },
  pets_too_large: {
    status: 413,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"pets_too_large","message":"The animals to change or delete have more than 512 KiB of metadata together. Nothing was changed.","status":413}',
  },
  pets_not_deletable: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"pets_not_deletable","message":"An order reserves or has sold some of the animals. Nothing was deleted. `details` names the first of them.","status":409}',
  },
  category_exists: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"category_exists","message":"A category with this identifier already exists.","status":409}',
  },
  category_name_taken: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"category_name_taken","message":"Another category already has this name, or one that looks the same.","status":409}',
  },
  category_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"category_not_found","message":"No category has this identifier.","status":404}',
  },
  category_in_use: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"category_in_use","message":"Animals belong to the category. Set `moveTo` to the category that they move to.","status":409}',
  },
  move_target_not_found: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"move_target_not_found","message":"The category in `moveTo` does not exist, or is the one being deleted.","status":409}',
  },
  pet_not_available: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"pet_not_available","message":"The animal cannot be ordered, because its status is not `available`. The message names its status.","status":409}',
  },
  ordered_pet_not_found: {
    status: 422,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"ordered_pet_not_found","message":"The animal that the order is for does not exist.","status":422}',
  },
  order_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"order_not_found","message":"No order has this identifier.","status":404}',
  },
  order_not_open: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"order_not_open","message":"The order\'s status is not `placed`, or its reservation has ended. The message names its status.","status":409}',
  },
  order_not_confirmed: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"order_not_confirmed","message":"The order\'s status is not `confirmed`, so there is nothing to return. The message names its status.","status":409}',
  },
  pet_deleted: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"pet_deleted","message":"The animal that the order sold was deleted, so that it cannot be returned.","status":409}',
  },
  test_key_required: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"test_key_required","message":"The operation works only on sandboxes, and the API key is live. Nothing was done.","status":403}',
  },
  lifetime_exceeds_key: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"lifetime_exceeds_key","message":"The new key or webhook endpoint would outlive the calling key. Choose an earlier expiry, or call with a key that expires later.","status":403}',
  },
  limit_exceeds_key: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"limit_exceeds_key","message":"The key would have a higher `limitPerMinute` than the calling key, or none.","status":403}',
  },
  mode_not_held: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"mode_not_held","message":"A test key can create test keys only.","status":403}',
  },
  scope_not_held: {
    status: 403,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"scope_not_held","message":"The new key would have a scope that the calling key lacks.","status":403}',
  },
  too_many_keys: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"too_many_keys","message":"The account already has 100 valid keys of this mode, the maximum. Revoke one that you no longer need.","status":409}',
  },
  key_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"key_not_found","message":"No key of the account has this identifier.","status":404}',
  },
  key_ended: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"key_ended","message":"The key is revoked or has expired, and cannot be replaced or changed. Create another one.","status":409}',
  },
  last_admin_key: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"last_admin_key","message":"No other `admin` key of this mode is valid for as long. Create one first.","status":409}',
  },
  request_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"request_not_found","message":"The shop has no request record with this id. A record appears within a second and is kept for 7 days.","status":404}',
  },
  events_expired: {
    status: 410,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"events_expired","message":"The requested events are not stored. The message names the first or last stored event.","status":410}',
  },
  event_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"event_not_found","message":"No event has this identifier.","status":404}',
  },
  too_many_streams: {
    status: 429,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"too_many_streams","message":"The shop already has 100 open streams in this process. `Retry-After` says when to try again.","status":429}',
  },
  streams_exhausted: {
    status: 503,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"streams_exhausted","message":"The process has reached its maximum number of streams. `Retry-After` says when to try again.","status":503}',
  },
  webhooks_unavailable: {
    status: 503,
    headers: { "Retry-After": "42", "Content-Type": "application/json" },
    body: '{"code":"webhooks_unavailable","message":"The service has no key from which webhook secrets are derived. Its operator must set `PETSTORE_SECRET_KEY`.","status":503}',
  },
  address_denied: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"address_denied","message":"The operator of the service has blocked the address of the webhook endpoint.","status":400}',
  },
  address_not_global: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"address_not_global","message":"The host of a webhook endpoint has no public internet address.","status":400}',
  },
  url_has_credentials: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"url_has_credentials","message":"The URL of a webhook endpoint contains a user name or password.","status":400}',
  },
  url_invalid: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"url_invalid","message":"The URL of a webhook endpoint is not an absolute URL.","status":400}',
  },
  url_not_https: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"url_not_https","message":"The URL of a webhook endpoint does not start with https:// (in development, http:// works too).","status":400}',
  },
  url_port_refused: {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"url_port_refused","message":"The URL of a webhook endpoint has a port below 1024 other than 80 and 443.","status":400}',
  },
  too_many_webhook_endpoints: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"too_many_webhook_endpoints","message":"The shop already has 20 webhook endpoints, the maximum. Delete one that you no longer need.","status":409}',
  },
  webhook_endpoint_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"webhook_endpoint_not_found","message":"No webhook endpoint of the shop has this identifier.","status":404}',
  },
  too_many_webhook_secrets: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"too_many_webhook_secrets","message":"5 secrets of the endpoint are valid, the maximum. A replaced one ends after 24 hours.","status":409}',
  },
  too_many_webhook_redeliveries: {
    status: 409,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"too_many_webhook_redeliveries","message":"The endpoint already has 10 unfinished redeliveries or tests, the maximum.","status":409}',
  },
  webhook_delivery_not_found: {
    status: 404,
    headers: { "Content-Type": "application/json" },
    body: '{"code":"webhook_delivery_not_found","message":"The endpoint has no delivery with this identifier, or it was deleted. A test cannot be redelivered.","status":404}',
  },
  operation_removed: {
    status: 410,
    headers: {
      Deprecation: "@1795219200",
      Sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
      Link: '<http://petstore.test/docs#tag/animals/getPet>; rel="deprecation"; type="text/html", <http://petstore.test/v1/pets>; rel="successor-version"',
      "Content-Type": "application/json",
    },
    body: '{"code":"operation_removed","message":"The operation was deprecated and its removal date has passed. `Link` names its replacement.","status":410}',
  },
};
