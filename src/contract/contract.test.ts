import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { domains } from "../app/domains.ts";
import { ContractError, contractFaults } from "./check.ts";
import { defineError, preconditionFailed, retiredCodes, serviceErrors } from "./errors.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { errorCatalogue } from "./operation-properties.ts";
import { pageParameters } from "./paging.ts";
import { Int64, Text } from "./schemas.ts";

const toyNotFound = defineError({ code: "toy_not_found", status: 404, meaning: "No toy has this identifier." });
const name = Text({ description: "Its name.", minLength: 1, maxLength: 9 });
const Toy = Type.Object({ id: Int64({ description: "Its identifier." }), name }, { title: "Toy" });
const NewToy = Type.Object({ name }, { title: "NewToy" });
const ball = { id: 1n, name: "Ball" };

const common = {
  tag: { name: "toys", description: "What animals play with.", stability: "stable" },
  summary: "A toy operation",
  description: "Does something with toys.",
} as const;

const listToys = defineOperation({
  ...common,
  name: "listToys",
  method: "GET",
  path: "/toys",
  query: Type.Object(pageParameters("toys")),
  paged: { position: Int64({ description: "The `id` of a toy." }) },
  response: { status: 200, description: "Toys.", schema: Type.Array(Toy), examples: { "One toy": [ball] } },
});

const createToy = defineOperation({
  ...common,
  name: "createToy",
  method: "POST",
  path: "/toys",
  body: { schema: NewToy, examples: { "A ball": { name: "Ball" } } },
  emits: [],
  response: {
    status: 201,
    description: "The toy.",
    schema: Toy,
    examples: { "A ball": ball },
    location: "/toys/{id}",
    entityTag: true,
  },
});

const getToy = defineOperation({
  ...common,
  name: "getToy",
  method: "GET",
  path: "/toys/{toyId}",
  params: { schema: Type.Object({ toyId: Int64({ description: "Which toy." }) }), invalidError: toyNotFound },
  deprecation: { since: "2026-11-21", removal: "2030-12-05", replacement: "listToys", advice: "List them." },
  response: { status: 200, description: "The toy.", schema: Toy, examples: { "A ball": ball } },
});

const toys: readonly Operation[] = [listToys, createToy, getToy];

/** The faults of the toys, after a change to one of their operations. */
function faultsAfter(operation: Operation, change: object): string[] {
  return contractFaults(toys.map((one) => (one === operation ? { ...one, ...change } : one)));
}

/** The faults of the toys and one operation more: a copy of the given one under another name and path. */
function faultsWith(operation: Operation, change: object): string[] {
  return contractFaults([...toys, { ...operation, name: "another", path: "/others", ...change }]);
}

/** The faults of the toys, after one of their operations was given an additional error. */
function faultsOfError(code: string, status = 409, meaning = "It broke."): string[] {
  return faultsAfter(createToy, { errors: [defineError({ code, status, meaning })] });
}

test("the project's contract has no fault", () => {
  expect(contractFaults(domains.flatMap(({ operations }) => operations))).toEqual([]);
});

test("a contract without a fault is accepted", () => {
  expect(contractFaults(toys)).toEqual([]);
});

test("all faults are reported at once, one per line", () => {
  const faulty = [
    listToys,
    { ...listToys, name: "ListToys", summary: " " },
    createToy,
    { ...getToy, errors: [toyNotFound, defineError({ code: "Oops", status: 200, meaning: "" })] },
  ] as unknown as Operation[];
  const faults = [
    "GET /toys: listToys and ListToys have this method and path; change one.",
    "Oops: an error code is written in snake_case, like pet_not_found.",
    "Oops: 200 is not the status of an error; use 400 to 599.",
    "Oops: the error has no meaning; write one sentence.",
    "ListToys: the name is not written in lowerCamelCase, like getPet.",
    "ListToys: the summary or the description is empty; write both.",
  ];
  expect(contractFaults(faulty)).toEqual(faults);
  expect(new ContractError(faults).message).toBe(
    `The contract has 6 fault(s):\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
  );
});

test("defaults are filled in, and stated values stay", () => {
  const errorsOfToy: readonly (typeof toyNotFound)[] = getToy.errors; // exact: the compiler knows each error
  const filledIn = [listToys, createToy, getToy].map(({ stability, testPanel, scopes, errors }) => [
    stability,
    testPanel,
    scopes,
    errors,
  ]);
  expect(filledIn).toEqual([
    ["stable", true, ["read"], []],
    ["stable", true, ["write"], []],
    ["stable", true, ["read"], errorsOfToy],
  ]);
  expect(errorsOfToy).toEqual([toyNotFound]);
  const stated = {
    stability: "beta",
    testPanel: { disabled: "it is a test" },
    scopes: [],
    errors: [toyNotFound, preconditionFailed],
  } as const;
  expect(defineOperation({ ...getToy, ...stated })).toEqual({ ...getToy, ...stated });
});

describe("it is a fault of an operation", () => {
  test("to have the name of another", () => {
    expect(faultsWith(createToy, { name: "createToy" })).toEqual([
      "createToy: two operations have this name; rename one.",
    ]);
  });

  test("to have the route of another, under other names of the parameters", () => {
    const params = { schema: Type.Object({ name: Int64({ description: "Which toy." }) }), invalidError: toyNotFound };
    expect(faultsWith(getToy, { path: "/toys/{name}", params })).toEqual([
      "GET /toys/{}: getToy and another have this method and path; change one.",
      "/toys/{toyId} and /toys/{name} differ only in the names of their parameters; use the same names.",
    ]);
  });

  test.each(["toys", "/toys/", "//toys", "/toys/{}", "/toys/{a b}", "/", "/to ys", "/toys/{toyId"])(
    "to have the malformed path %p",
    (path) => {
      expect(faultsAfter(createToy, { path })).toContain(
        `createToy: the path ${path} is malformed; write it like /pets/{petId}.`,
      );
    },
  );

  test("to return what a GET shows after a change, but without its entity tag", () => {
    expect(faultsAfter(createToy, { response: { ...createToy.response, entityTag: undefined } })).toEqual([
      "createToy: it returns what a GET shows; set response.entityTag to true.",
    ]);
  });

  test("to honour If-Match without its error, or to have that error for nothing", () => {
    expect(faultsAfter(createToy, { ifMatch: Toy })).toEqual([
      "createToy: it honours If-Match without the error precondition_failed; add preconditionFailed to errors.",
    ]);
    expect(faultsAfter(createToy, { errors: [preconditionFailed] })).toEqual([
      "createToy: it has the error precondition_failed without honouring If-Match; set ifMatch, or remove the error.",
    ]);
  });

  test("to have a tag without a name or a description", () => {
    expect(faultsAfter(listToys, { tag: { name: "toys", description: "" } })).toContain(
      "listToys: the tag has no name or no description; write both.",
    );
  });

  test("to describe the tag of another differently", () => {
    expect(faultsAfter(listToys, { tag: { name: "toys", description: "Things." } })).toEqual([
      "toys: two different tags have this name; share one value, or rename one.",
    ]);
  });
});

describe("it is a fault of the parameters", () => {
  test("that one of the path has no schema", () => {
    expect(faultsAfter(getToy, { params: undefined })).toEqual([
      "getToy: the path parameter toyId has no schema; add it to params.schema.",
    ]);
  });

  test("that a schema is for no parameter of the path", () => {
    expect(faultsAfter(createToy, { params: getToy.params })).toEqual([
      "createToy: the path has no parameter toyId; add {toyId} to it, or remove toyId from params.schema.",
    ]);
  });

  test("that two have one name", () => {
    expect(faultsAfter(getToy, { path: "/toys/{toyId}/parts/{toyId}" })).toEqual([
      "getToy: the path has two parameters toyId; rename one.",
    ]);
  });

  test("that a paged operation lacks the parameters of pages", () => {
    expect(faultsAfter(listToys, { query: undefined })).toEqual([
      "listToys: a paged operation needs the query parameter limit; spread pageParameters into query.",
      "listToys: a paged operation needs the query parameter cursor; spread pageParameters into query.",
    ]);
  });

  test("that a paged operation does not return an array", () => {
    const response = { ...listToys.response, schema: Toy, examples: { "A ball": ball } };
    expect(faultsAfter(listToys, { response })).toEqual([
      "listToys: a paged operation returns an array; make response.schema one, or remove paged.",
    ]);
  });

  test("that the filter by ids is none", () => {
    expect(faultsAfter(listToys, { paged: { ...listToys.paged, ids: "limit" } })).toEqual([
      "listToys: paged.ids names limit, which is not a list in query; add it with filterByIds.",
    ]);
  });

  test("that the Location of a new resource needs a field that the response lacks", () => {
    expect(faultsAfter(createToy, { response: { ...createToy.response, location: "/toys/{toyId}" } })).toEqual([
      "createToy: the location needs toyId, which the response does not have; name one of its properties.",
    ]);
  });

  test("that a response without a new resource has a Location", () => {
    expect(faultsAfter(getToy, { response: { ...getToy.response, location: "/toys/{id}" } })).toEqual([
      "getToy: only a response of status 201 has a location; remove it, or set status to 201.",
    ]);
  });
});

test("a stream of a GET with an int64 and a text has no fault", () => {
  const response = { ...getToy.response, stream: { id: "id", event: "name" } };
  expect(faultsAfter(getToy, { response })).toEqual([]);
});

describe("it is a fault of a stream", () => {
  const stream = { id: "id", event: "name" };
  const response = { ...getToy.response, stream };

  test("that it has no ids or no names of events", () => {
    expect(faultsAfter(getToy, { response: { ...response, stream: { id: "name", event: "id" } } })).toEqual([
      "getToy: the stream takes its ids from name, which is not an int64 of the response.",
      "getToy: the stream takes the names of events from id, which is not a text of the response.",
    ]);
    expect(faultsAfter(getToy, { response: { ...response, stream: { ...stream, id: "number" } } })).toEqual([
      "getToy: the stream takes its ids from number, which is not an int64 of the response.",
    ]);
  });

  test("that it has pages", () => {
    expect(faultsAfter(listToys, { response: { ...response, examples: { "A ball": ball } } })).toContain(
      "listToys: a streamed operation has no pages; remove paged.",
    );
  });
});

describe("it is a fault of an example", () => {
  test("that it does not fit its schema", () => {
    const body = { schema: NewToy, examples: { "A ball": { name: "Ball" }, "A number": { name: 7 } } };
    expect(faultsAfter(createToy, { body })).toEqual([
      'createToy: the body example "A number" does not fit its schema: /name must be a string; got 7, write it in double quotes.',
    ]);
    const response = { ...getToy.response, examples: { Huge: { id: 2n ** 63n, name: "Ball" } } };
    expect(faultsAfter(getToy, { response })).toEqual([
      'getToy: the response example "Huge" does not fit its schema: /id must be a 64-bit integer; got 9223372036854775808.',
    ]);
  });

  test("that it is missing", () => {
    expect(faultsAfter(createToy, { body: { schema: NewToy, examples: {} } })).toEqual([
      "createToy: the body has no example; add one to body.examples.",
    ]);
    expect(faultsAfter(getToy, { response: { ...getToy.response, examples: {} } })).toEqual([
      "getToy: the response has no example; add one to response.examples.",
    ]);
  });
});

describe("it is a fault of a schema", () => {
  test("that it combines others, which the serializer cannot do", () => {
    const { response } = createToy;
    const nullable = Type.Union([Int64({ description: "Its owner." }), Type.Null()]);
    const schema = Type.Object({ ...Toy.properties, owner: nullable }, { title: "OwnedToy" });
    const examples = { "A ball": { ...ball, owner: null } };
    expect(faultsAfter(createToy, { response: { ...response, schema, examples } })).toEqual([
      "createToy: the response uses anyOf; describe it with one plain schema.",
    ]);
  });

  test("that another one has its title", () => {
    const impostor = Type.Object({ owner: name }, { title: "Toy" });
    const response = {
      ...createToy.response,
      schema: impostor,
      examples: { One: { owner: "Ada" } },
      location: "/toys",
    };
    expect(faultsAfter(createToy, { response })).toEqual(["Toy: two different schemas have this title; rename one."]);
  });

  test("that a path parameter has its title", () => {
    const toyId = Int64({ description: "Which toy." });
    const params = { schema: Type.Object({ toyId: { ...toyId, title: "Toy" } }), invalidError: toyNotFound };
    expect(faultsAfter(getToy, { params })).toContain("Toy: two different schemas have this title; rename one.");
  });

  test("that it has the title of the body of errors", () => {
    const body = { schema: Type.Object({ name }, { title: "Error" }), examples: { "A ball": { name: "Ball" } } };
    expect(faultsAfter(createToy, { body })).toEqual(["Error: two different schemas have this title; rename one."]);
  });
});

describe("it is a fault of a deprecation", () => {
  const deprecation = getToy.deprecation;

  test.each([deprecation.since, "2026-11-20"])("that the removal, %p, does not come after it", (removal) => {
    expect(faultsAfter(getToy, { deprecation: { ...deprecation, removal } })).toEqual([
      "getToy: the removal does not come after the deprecation; set a later date.",
    ]);
  });

  test.each(["soon", "", "2030", "2030-13-01", "2030-02-30", "5 December 2030"])("that %p is not a date", (date) => {
    expect(faultsAfter(getToy, { deprecation: { ...deprecation, removal: date } })).toEqual([
      `getToy: the removal date ${date} is not a date; write it like 2030-12-31.`,
    ]);
    expect(faultsAfter(getToy, { deprecation: { ...deprecation, since: date } })).toEqual([
      `getToy: the deprecation date ${date} is not a date; write it like 2030-12-31.`,
    ]);
  });

  test("that there is no such replacement", () => {
    expect(faultsAfter(getToy, { deprecation: { ...deprecation, replacement: "findToys" } })).toEqual([
      "getToy: the replacement findToys is not an operation.",
    ]);
  });

  test("that the operation replaces itself", () => {
    expect(faultsAfter(getToy, { deprecation: { ...deprecation, replacement: "getToy" } })).toEqual([
      "getToy: the operation cannot replace itself; name another in replacement.",
    ]);
  });
});

describe("it is a fault of an error", () => {
  test("that another one has its code, also one of the service", () => {
    expect(faultsOfError("toy_not_found")).toEqual([
      "toy_not_found: two errors have this code; define it once and import it, or rename one.",
    ]);
    expect(faultsOfError("invalid_request")).toEqual([
      "invalid_request: two errors have this code; define it once and import it, or rename one.",
    ]);
  });

  test("that an operation declares it twice", () => {
    expect(faultsAfter(getToy, { errors: [toyNotFound, toyNotFound] })).toEqual([
      "getToy: the error toy_not_found is declared twice; remove one.",
    ]);
  });

  test.each(["", "ToyBroken", "toy-broken", "toy__broken", "_toy", "toy_", "toy broken", "toy_2"])(
    "that its code is %p",
    (code) => {
      expect(faultsOfError(code)).toEqual([`${code}: an error code is written in snake_case, like pet_not_found.`]);
    },
  );

  test.each([200, 302, 399, 600, 0, Number.NaN, 404.5])("that its status is %p", (status) => {
    expect(faultsOfError("toy_broken", status)).toEqual([
      `toy_broken: ${status} is not the status of an error; use 400 to 599.`,
    ]);
  });

  test("that it says nothing", () => {
    expect(faultsOfError("toy_broken", 409, " ")).toEqual([
      "toy_broken: the error has no meaning; write one sentence.",
    ]);
  });

  test("that its code is retired", () => {
    const retired = retiredCodes as string[];
    retired.push("toy_broken");
    try {
      expect(faultsOfError("toy_broken")).toEqual([
        "toy_broken: the code is retired and cannot be used again; choose another.",
      ]);
    } finally {
      retired.pop();
    }
  });
});

test("the catalogue holds each error once, the service's own first", () => {
  expect(errorCatalogue(toys)).toEqual([...serviceErrors, toyNotFound]);
});

describe("an unknown key of an operation", () => {
  const response = {
    status: 200,
    description: "Toys.",
    schema: Type.Array(Toy),
    examples: { "One toy": [ball] },
  } as const;
  const minimal = { ...common, name: "findToys", method: "GET", path: "/found-toys", response } as const;

  test("does not compile", () => {
    // @ts-expect-error -- query
    defineOperation({ ...minimal, quary: Type.Object({}) });
    // @ts-expect-error -- scope, which would become that of the method
    defineOperation({ ...minimal, scop: "admin" });
    // @ts-expect-error -- quota
    defineOperation({ ...minimal, seperateQuota: "plan" });
    // @ts-expect-error -- deprecation
    defineOperation({ ...minimal, deprecaton: { since: "2026-11-21" } });
    // @ts-expect-error -- response.entityTag
    defineOperation({ ...minimal, response: { ...response, entiyTag: true } });
    // @ts-expect-error -- body.examples
    defineOperation({ ...minimal, body: { schema: NewToy, examples: {}, exmaples: {} } });
    const params = { schema: Type.Object({}), invalidError: toyNotFound, invalidErorr: toyNotFound };
    // @ts-expect-error -- params.invalidError
    defineOperation({ ...minimal, params });
    // @ts-expect-error -- paged.position
    defineOperation({ ...minimal, paged: { position: Type.String(), postion: Type.String() } });
    // @ts-expect-error -- tag.description
    defineOperation({ ...minimal, tag: { ...common.tag, descripton: "Toys." } });
    expect(defineOperation({ ...minimal, separateQuota: "plan" }).separateQuota).toBe("plan"); // the control
  });
});
